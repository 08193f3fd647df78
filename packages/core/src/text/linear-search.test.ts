import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { bordersOf, linearIndexOf, textFinder } from "./linear-search.ts";

describe("textFinder", () => {
  it("finds what indexOf finds", () => {
    const text = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength });
    fc.assert(
      fc.property(text(120), text(8), fc.nat(30), (whole, pattern, from) => {
        const codes = Uint16Array.from(pattern, (character) => character.charCodeAt(0));
        const codeAt = (index: number) => whole.charCodeAt(index);
        if (pattern === "") return;
        expect(linearIndexOf(codeAt, whole.length, codes, bordersOf(codes), from)).toBe(
          whole.indexOf(pattern, from),
        );
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(text(400), fc.nat(250), fc.nat(30), (whole, at, from) => {
        const pattern = `${whole.slice(at, at + 65)}${"a".repeat(65 - whole.slice(at, at + 65).length)}`;
        expect(textFinder(pattern)(whole, from)).toBe(whole.indexOf(pattern, from));
      }),
      { numRuns: 500 },
    );
    const long = "ab".repeat(50);
    expect(textFinder(long)(`x${long}`, 0)).toBe(1);
    expect(textFinder(long)(`x${long}`, 2)).toBe(-1);
  });

  it.each([
    `b${"a".repeat(9000)}`,
    `${"a".repeat(9000)}b`,
    `${"a".repeat(4500)}b${"a".repeat(4500)}`,
    `${"a".repeat(63)}b`,
  ])("is not held up by %.5s… in text made to be slow", async (pattern) => {
    const find = () => textFinder(pattern)("a".repeat(1_000_000), 0);
    expect(await withinCpuLimit("finding nothing in 1 MB of text made to be slow", find)).toBe(-1);
  });
});
