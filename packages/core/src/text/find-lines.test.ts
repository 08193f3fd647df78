import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FoundLine, findLines, invalidPattern, isBinaryText, matchLimit } from "./find-lines.ts";
import { textFinder } from "./linear-search.ts";
import { splitLines } from "./lines.ts";

const find = (text: string, pattern: string, limit = Number.POSITIVE_INFINITY) => {
  const matches: FoundLine[] = [];
  const complete = findLines(matches, "/f", text, textFinder(pattern), limit);
  return { complete, lines: matches.map(({ line, text }) => [line, text]) };
};

describe("findLines", () => {
  it("finds each line once, whatever ends it", () => {
    expect(find("x x\ny\r\nx\rx", "x").lines).toEqual([
      [1, "x x"],
      [3, "x"],
      [4, "x"],
    ]);
  });

  it("names the line a pattern over several lines begins in", () => {
    expect(find("a\nb\nc\nb\nc", "b\nc").lines).toEqual([
      [2, "b"],
      [4, "b"],
    ]);
  });

  it("says that there is more only when there is", () => {
    expect(find("x\nx\n", "x", 2)).toEqual({
      complete: true,
      lines: [
        [1, "x"],
        [2, "x"],
      ],
    });
    expect(find("x\nx\nx", "x", 2)).toEqual({
      complete: false,
      lines: [
        [1, "x"],
        [2, "x"],
      ],
    });
  });

  it("agrees with splitting the text into lines", () => {
    const text = fc.array(fc.constantFrom("a", "b", "ab", "\n", "\r", "\r\n", "é", "🙂"), { maxLength: 60 });
    fc.assert(
      fc.property(text, fc.constantFrom("a", "b", "ab", "é", "aa"), (parts, pattern) => {
        const whole = parts.join("");
        const expected = splitLines(whole).flatMap((line, index) =>
          line.text.includes(pattern) ? [[index + 1, line.text]] : [],
        );
        expect(find(whole, pattern).lines).toEqual(expected);
      }),
    );
  });
});

describe("what is searched for", () => {
  it("is some text, but not too much of it", () => {
    expect(invalidPattern("")).toMatchObject({ code: "INVALID_PATTERN" });
    expect(invalidPattern("x".repeat(10_001))).toMatchObject({ code: "INVALID_PATTERN" });
    expect(invalidPattern("(a+)+$")).toBeUndefined();
  });

  it.each([
    [null, Infinity],
    [undefined, Infinity],
    [0, Infinity],
    [2.9, 2],
    [Number.NaN, Infinity],
  ])("asks for %s matches as %s", (maxCount, limit) => expect(matchLimit(maxCount)).toBe(limit));
});

it("takes text with a zero in its first 8 KiB for binary", () => {
  expect(isBinaryText("a\0b")).toBe(true);
  expect(isBinaryText(`${"a".repeat(8192)}\0`)).toBe(false);
  expect(isBinaryText(`${"é".repeat(5000)}\0`)).toBe(false);
  expect(isBinaryText("plain")).toBe(false);
});
