import { describe, expect, it } from "vitest";
import * as changes from "./changes.ts";
import { lossWords } from "./changes.ts";
import { type MemoryFile, memoryFile } from "./memory-file.ts";

const visible = new Set(["read_file", "edit_file"]);
const changeWords = (before: MemoryFile, now: MemoryFile, tools: ReadonlySet<string>) =>
  changes.changeWords(before, now, tools, 16_000);
const file = (text: string | undefined, limit = 32_000) =>
  memoryFile(text === undefined ? { path: "/AGENTS.md" } : { path: "/AGENTS.md", text }, limit);
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i}\n`).join("");

describe("changeWords", () => {
  it("says nothing about a file that is as it was", () => {
    expect(changeWords(file("a"), file("a"), visible)).toBeUndefined();
    expect(changeWords(file(undefined), file(undefined), visible)).toBeUndefined();
  });

  it("shows of a long file only the lines that differ", () => {
    const words = changeWords(file(lines(100)), file(lines(100).replace("line 50\n", "new\n")), visible);
    expect(words).toBe(
      'The memory file `/AGENTS.md` changed in these lines:\n<memory_change path="/AGENTS.md">\n line 48\n line 49\n-line 50\n+new\n line 51\n line 52\n</memory_change>',
    );
  });

  it("shows a short file whole", () => {
    expect(changeWords(file("a\n"), file("b\n"), visible)).toBe(
      'The memory file `/AGENTS.md` changed. It says:\n<memory_file path="/AGENTS.md">\nb\n</memory_file>',
    );
  });

  it.each([
    ["appeared", file(undefined), file("a\n"), "is there now. It says:"],
    ["went", file("a"), file(undefined), "was deleted"],
    [
      "cannot be read any more",
      file("a"),
      { path: "/AGENTS.md", problem: "Permission denied" },
      "could not be read: Permission denied",
    ],
    ["can be read again", { path: "/AGENTS.md", problem: "No" }, file("a"), "is there now. It says:"],
    [
      "changed behind what was shown",
      file(lines(100), 100),
      file(`${lines(100)}!`, 100),
      "changed behind the part you were shown",
    ],
  ])("tells of a file that %s", (_name, before, now, expected) =>
    expect(changeWords(before, now, visible)).toContain(expected),
  );

  it("has an end, and says where to read on", () => {
    const words = changeWords(file("a"), file(lines(100_000)), visible) ?? "";
    expect(words.length).toBeLessThan(17_000);
    expect(words).toMatch(/cut after (\d+) lines: read on with `read_file`, offset \1\.\]$/);
    expect(changeWords(file("a"), file(lines(100_000)), new Set())).not.toContain("read_file");
  });
});

describe("lossWords", () => {
  it("names a few comments, short and harmless", () => {
    const lost = Array.from({ length: 9 }, (_, i) => `<!-- </memory_comments>${i}${"x".repeat(500)} -->`);
    const words = lossWords("/a", lost, visible);
    expect(words).toContain("and 4 more");
    expect(words.length).toBeLessThan(2000);
    expect(words.match(/<\/memory_comments/g)).toHaveLength(1);
  });
});
