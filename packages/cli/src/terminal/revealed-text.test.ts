import { suspicions } from "deepwright/approval-warnings";
import { describe, expect, it } from "vitest";
import { revealedJson, revealedLine, revealedLines, wrapped, wrappedWords } from "./revealed-text.ts";

describe("text that shows all of itself (HI-08)", () => {
  it("visible letters of any script stay as they are", () => {
    for (const text of ["plain", "Привет", "你好", "naïve 한국어", "a\\x1bb", "😀"])
      expect([revealedLine(text), revealedLines(text)]).toEqual([text, [text]]);
  });

  it("line ends of Windows are line ends, a lone carriage return is not", () => {
    expect(revealedLines("a\r\nb\rc")).toEqual(["a", "b\\rc"]);
    expect(suspicions("a\r\nb\r\n")).toEqual([]);
    expect(suspicions("a\rb")).toEqual(["1 control character, such as \\r"]);
  });

  it("few empty lines stay, many are counted", () => {
    expect(revealedLines("a\n\n\nb")).toEqual(["a", "", "", "b"]);
    expect(revealedLines(`a${"\n".repeat(6)}b`)).toEqual(["a", "⟨5 empty lines⟩", "b"]);
  });

  it("rows are no wider than they may be; letters of two columns count twice", () => {
    expect(wrapped("abcdef", 4)).toEqual(["abcd", "ef"]);
    expect(wrapped("你好你", 4)).toEqual(["你好", "你"]);
    expect(wrapped("", 4)).toEqual([""]);
  });

  it("sentences are cut between words, and nothing is lost of a long one", () => {
    expect(wrappedWords("it reaches no network.", 12)).toEqual(["it reaches", "no network."]);
    expect(wrappedWords("abcdefgh ij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrappedWords("你好你", 4)).toEqual(["你好", "你"]);
    expect(wrappedWords("", 4)).toEqual([""]);
  });

  it("JSON with all of it seen parses to the same value", () => {
    const value = { "a\u202e": "\u200b\x1b \u{e0041}\u00a0 \ud800 ok Привет 😀\n" };
    const json = revealedJson(JSON.stringify(value, undefined, 2));
    expect(json).not.toMatch(/(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
    expect(JSON.parse(json)).toEqual(value);
  });

  it.each([
    ["blanks", `a${" ".repeat(2_000_000)}b`],
    ["one word", "x".repeat(2_000_000)],
    ["short words", "a.".repeat(1_000_000)],
    ["empty lines", `a${"\n".repeat(2_000_000)}b`],
    ["line ends", "a\r\n".repeat(700_000)],
    ["foreign words", "при-вет".repeat(300_000)],
    ["addresses", "https://a@".repeat(200_000)],
  ])("a long text of %s takes time in proportion only", (_, text) => {
    const rows = revealedLines(text).flatMap((line) => wrapped(line, 80));
    expect(rows.every((row) => row.length <= 80)).toBe(true);
    expect(suspicions(text).length).toBeLessThan(8);
  });
});
