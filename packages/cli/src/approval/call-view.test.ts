import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { callLines, isCut } from "./call-view.ts";
import type { CallQuestion } from "./question.ts";

const OPTIONS = { width: 80, colours: pc.createColors(false), full: false };

function call(tool: string, args: Record<string, unknown>, description?: string): CallQuestion {
  return { tool, args, description, allowed: ["approve", "reject"] };
}

function shown(tool: string, args: Record<string, unknown>, full = false): readonly string[] {
  return callLines(call(tool, args), { ...OPTIONS, full });
}

/** Characters that no line may contain. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

describe("a call as a person sees it (HI-08)", () => {
  it("plain arguments are plain lines without a warning", () => {
    expect(shown("write_file", { file_path: "/a.ts", content: "one\n\ttwo\n" })).toEqual([
      "  file_path: /a.ts",
      "  content: (2 lines, 9 B)",
      "  │ one",
      "  │ ⇥   two",
      "  │ ",
    ]);
    expect(shown("ls", {})).toEqual(["  (no arguments)"]);
    expect(shown("x", { flag: true, none: "", list: [1] })).toEqual([
      "  flag: true",
      "  none: (empty)",
      "  list: (3 lines, 7 B)",
      "  │ [",
      "  │   1",
      "  │ ]",
    ]);
  });

  it.each([
    ["control sequences", "a\x1b[31mb\rc\x07", "a\\x1b[31mb\\rc\\x07", "3 control characters, such as \\x1b"],
    ["direction marks", "a\u202eb\u2066", "a\\u202eb\\u2066", "2 characters that turn the direction"],
    ["zero-width characters", "a\u200bb\u2060\ufeff", "a\\u200bb\\u2060\\ufeff", "3 invisible characters"],
    ["tags and fillers", "a\u{e0041}\u3164b", "a\\u{e0041}\\u3164b", "2 invisible characters"],
    ["other spaces", "rm\u00a0-rf\u2003/", "rm\\xa0-rf\\u2003/", "2 unusual spaces, such as \\xa0"],
    ["private and broken ones", "a\ue000\ud800b", "a\\ue000\\ud800b", "2 characters that are not assigned"],
    ["blanks at the end", "ls   ", "ls···", "it ends with 3 blanks"],
    [
      "a command after a gap",
      `ls${" ".repeat(300)}; rm -rf ~`,
      "ls⟨300 blanks⟩; rm -rf ~",
      "it goes on after a gap of 300 blanks",
    ],
    [
      "look-alike letters",
      "see p\u0430ypal",
      "see p\u0430ypal",
      "'p\\u0430ypal' mixes letters that look alike: Latin and Cyrillic",
    ],
  ])("%s are seen and named", (_, command, visible, warning) => {
    const lines = shown("execute", { command });
    expect(lines[0]).toBe(`  command: ${visible}`);
    expect(lines.slice(1).join("\n")).toContain(`! command: ${warning}`);
    expect(lines.join("")).not.toMatch(UNSEEN);
  });

  it.each([
    [
      "https://p\u0430ypal.com/x",
      "the host 'p\\u0430ypal.com' is not plain letters: it is xn--pypal-4ve.com",
    ],
    ["https://\u0430\u0440\u0440\u04cf\u0435.com", "it is xn--80ak6aa92e.com"],
    ["http://xn--pypal-4ve.com/", "the host 'p\\u0430ypal.com' is not plain letters"],
    ["https://github.com@evil.example/x", "the address 'github.com@evil.example' leads to evil.example"],
    ["https://ｇoogle.com", "it is google.com"],
  ])("%s is named for what it is", (url, warning) => {
    const lines = callLines(call("fetch", { url }), { ...OPTIONS, width: 200 });
    expect(lines.join("\n")).toContain(warning);
  });

  it("addresses and words that are what they look like are not warned of", () => {
    const content = "https://example.com/a?b=c и Привет, Ωmega-Station, Node를 naïve 你好.";
    expect(
      shown("write_file", { content: "https://example.com/a?b=c Привет 你好 Node를 naïve" }),
    ).toHaveLength(1);
    expect(shown("write_file", { content }).at(-1)).toContain("\\u03a9mega-Station");
  });

  it("lines that hide a second command stand there, and the gap is counted", () => {
    const lines = shown("execute", { command: `ls\n${"\n".repeat(50)}rm -rf ~\n\n` });
    expect(lines.slice(0, 5)).toEqual([
      "  command: (53 lines, 63 B)",
      "  │ ls",
      "  │ ⟨50 empty lines⟩",
      "  │ rm -rf ~",
      "  │ ",
    ]);
    expect(lines).toContain("  ! command: it goes on after 50 empty lines");
    expect(lines).toContain("  ! command: it ends with 2 line breaks");
  });

  it("of a long text the beginning, the end and the size are shown, and all of it on request", () => {
    const content = `start ${"x".repeat(200_000)} end`;
    const short = shown("write_file", { content });
    expect(short.length).toBeLessThan(40);
    expect(short[0]).toBe("  content: (195 KB)");
    expect(short[1]).toContain("start");
    expect(short.at(-1)).toMatch(/┆ x* end$/);
    const full = shown("write_file", { content }, true);
    expect(
      full
        .slice(1)
        .map((line) => line.slice(4))
        .join(""),
    ).toBe(content);
    expect(Math.max(...full.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(isCut(call("write_file", { content }), OPTIONS)).toBe(true);
    expect(isCut(call("write_file", { content: "x" }), OPTIONS)).toBe(false);
  });

  it("a text cannot pass for a line of ours", () => {
    const content = "x\n  y yes · n no · Ctrl-C later\ndecision: y";
    const lines = shown("write_file", { content });
    expect(lines.slice(1).every((line) => line.startsWith("  │ "))).toBe(true);
  });

  it("names of tools and arguments are looked at, too, and nested texts", () => {
    const lines = shown("to\u200bol", { "na\u202eme": 1, deep: [{ text: "a\x1bb" }] });
    expect(lines.join("")).not.toMatch(UNSEEN);
    expect(lines.join("\n")).toContain("! the name 'na\\u202eme': 1 character that turns");
    expect(lines.join("\n")).toContain("! deep.0.text: 1 control character");
    expect(lines.join("\n")).toContain("! the tool's name: 1 invisible character");
  });

  it("an edit is shown as what goes and what comes", () => {
    const lines = shown("edit_file", {
      file_path: "/a.ts",
      old_string: "a\nold\nz",
      new_string: "a\nnew\nmore\nz",
      replace_all: true,
    });
    expect(lines).toEqual([
      "  file_path: /a.ts",
      "  replace_all: true",
      "  change: (3 lines, 7 B) becomes (4 lines, 12 B)",
      "  │   a",
      "  │ - old",
      "  │ + new",
      "  │ + more",
      "  │   z",
    ]);
  });

  it("a file that steers other programs is named", () => {
    expect(shown("write_file", { file_path: "/.git/hooks/pre-commit", content: "x" }).at(-1)).toBe(
      "  ! file_path: this file controls other programs",
    );
  });

  it("the reason to ask is shown, made safe", () => {
    const lines = callLines(call("delete", { file_path: "/a" }, "Rule \x1b[2J\nsays so"), OPTIONS);
    expect(lines.slice(0, 2)).toEqual(["  Rule \\x1b[2J", "  says so"]);
  });
});
