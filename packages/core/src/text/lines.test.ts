import { describe, expect, it } from "vitest";
import { countLines, lineEndIndex, longLineEndIndex, normalizeLineEnds, splitLines } from "./lines.ts";

describe("lines", () => {
  it.each([
    ["", []],
    ["a", ["a|"]],
    ["a\n", ["a|\n"]],
    ["a\nb", ["a|\n", "b|"]],
    ["a\r\nb\r\n", ["a|\r\n", "b|\r\n"]],
    ["a\rb", ["a|\r", "b|"]],
    ["a\r\r\nb\n\rc", ["a|\r", "|\r\n", "b|\n", "|\r", "c|"]],
    ["\n\n", ["|\n", "|\n"]],
    ["a\u2028b", ["a\u2028b|"]],
  ])("%j splits into its lines and their ends", (text, expected) => {
    const lines = splitLines(text);
    expect(lines.map((line) => `${line.text}|${line.end}`)).toEqual(expected);
    expect(countLines(text)).toBe(expected.length);
    expect(lines.map((line) => line.text + line.end).join("")).toBe(text);
  });

  it("finds the end of a line without looking further", () => {
    expect(lineEndIndex("ab\ncd", 0)).toBe(2);
    expect(lineEndIndex("ab\ncd", 3)).toBe(5);
    expect(lineEndIndex("", 0)).toBe(0);
  });

  it("normalises every kind of line end", () => {
    expect(normalizeLineEnds("a\r\nb\rc\nd")).toBe("a\nb\nc\nd");
  });

  it("finds the same ends in long lines, and counts as many", () => {
    const ends = ["\n", "\r\n", "\r", "\r\r\n", ""];
    const text = Array.from({ length: 200 }, (_, i) => "x".repeat((i * 977) % 6000) + ends[i % 5]).join("");
    let count = 0;
    for (let at = 0; at < text.length; at = lineEndIndex(text, at) + 1) {
      expect(longLineEndIndex(text, at)).toBe(lineEndIndex(text, at));
      count += 1;
    }
    expect(count).toBeGreaterThan(150);
    expect(countLines(text)).toBe(splitLines(text).length);
  });
});
