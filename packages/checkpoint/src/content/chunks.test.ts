import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytePieces, textPieces } from "./chunks.ts";

/** The same numbers for ever, on every machine. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 8;
  }
}

function words(length: number, seed: number): string {
  const source = numbers(seed);
  let text = "";
  while (text.length < length)
    text += `${source.next().value.toString(36)}${source.next().value % 9 === 0 ? "\n" : " "}`;
  return text.slice(0, length);
}

function bytes(length: number, seed: number): Uint8Array {
  const source = numbers(seed);
  return Uint8Array.from({ length }, () => source.next().value & 255);
}

const digest = (pieces: readonly (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(`${piece.length},`);
  return hash.digest("hex").slice(0, 12);
};

/** Pieces of the second that are not among those of the first. */
function fresh(before: readonly string[], after: readonly string[]): string[] {
  const known = new Set(before);
  return after.filter((piece) => !known.has(piece));
}

const LENGTHS = [
  0, 1, 4_095, 4_096, 4_097, 8_192, 16_384, 20_000, 100_000, 262_144, 1_048_575, 1_048_576, 3_000_000,
];

describe("pieces of texts and bytes", () => {
  test.each(LENGTHS)("%i units joined again are what they were", (length) => {
    const text = words(length, length + 1);
    expect(textPieces(text).join("")).toBe(text);
    const binary = bytes(length, length + 1);
    expect(Buffer.concat(bytePieces(binary)).equals(binary)).toBe(true);
  });

  test("short content stays whole, long content has pieces of a bounded size", () => {
    expect(textPieces(words(4_096, 1))).toHaveLength(1);
    const fine = textPieces(words(250_000, 2)).map(({ length }) => length);
    expect(Math.max(...fine)).toBeLessThanOrEqual(8_193);
    expect(fine.length).toBeLessThan(200);
    const middle = textPieces(words(1_000_000, 2)).map(({ length }) => length);
    expect(Math.max(...middle)).toBeLessThanOrEqual(32_769);
    expect(middle.length).toBeLessThan(150);
    const coarse = textPieces(words(5_000_000, 3)).map(({ length }) => length);
    expect(Math.max(...coarse)).toBeLessThanOrEqual(131_073);
    expect(coarse.length).toBeLessThan(400);
  });

  test("content without any variety is cut, too", () => {
    for (const text of ["a".repeat(300_000), "\n".repeat(2_000_000), "ab".repeat(40_000)]) {
      const pieces = textPieces(text);
      expect(pieces.join("")).toBe(text);
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(131_072);
    }
  });

  test("an edit changes the pieces around it and no others", () => {
    const text = words(400_000, 4);
    const before = textPieces(text);
    fc.assert(
      fc.property(
        fc.nat({ max: 399_000 }),
        fc.nat({ max: 500 }),
        fc.string({ maxLength: 500 }),
        (place, cut, insert) => {
          const edited = text.slice(0, place) + insert.toWellFormed() + text.slice(place + cut);
          expect(fresh(before, textPieces(edited)).length).toBeLessThanOrEqual(5);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("so does one in a large file: at most 256 KB are new", () => {
    const text = words(10 * 1_048_576, 5);
    const before = textPieces(text);
    for (const place of [17, 5_000_000, text.length]) {
      const edited = `${text.slice(0, place)}one line more\n${text.slice(place)}`;
      const added = fresh(before, textPieces(edited)).reduce((sum, { length }) => sum + length, 0);
      expect(added).toBeLessThanOrEqual(256 * 1_024);
    }
  });

  test("a pair of surrogates is never split", () => {
    const pairs = "😀".repeat(50_000);
    for (const text of [pairs, `x${pairs}`, words(30_000, 6).replaceAll(" ", "😀"), "é😀".repeat(700_000)]) {
      const pieces = textPieces(text);
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
      expect(pieces.join("")).toBe(text);
    }
  });

  test("any text is the sum of its pieces", () => {
    const piece = fc.tuple(
      fc.string({ unit: "binary", minLength: 1, maxLength: 50 }),
      fc.integer({ min: 1, max: 2_000 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (parts) => {
        const text = parts
          .map(([part, times]) => part.repeat(times))
          .join("")
          .toWellFormed();
        const pieces = textPieces(text);
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((each) => each.isWellFormed())).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  /** Other cuts would share nothing with what is stored: these numbers never change. */
  test("the cuts are the same in every version", () => {
    expect(textPieces(words(100_000, 7)).map(({ length }) => length)).toMatchInlineSnapshot(`
      [
        1451,
        2573,
        1381,
        2885,
        3880,
        3499,
        3102,
        2750,
        1426,
        867,
        5577,
        870,
        6696,
        3069,
        924,
        771,
        3891,
        3551,
        5298,
        1311,
        626,
        1058,
        1520,
        3460,
        2169,
        3271,
        850,
        553,
        1354,
        719,
        2922,
        3096,
        4266,
        959,
        1873,
        1924,
        1264,
        2174,
        8192,
        1237,
        741,
      ]
    `);
    expect(digest(textPieces(words(2_000_000, 8)))).toMatchInlineSnapshot(`"1dee105f05d1"`);
    expect(bytePieces(bytes(60_000, 9)).map(({ length }) => length)).toMatchInlineSnapshot(`
      [
        2274,
        865,
        597,
        1894,
        2144,
        2301,
        1161,
        2122,
        1735,
        950,
        1045,
        1413,
        3718,
        819,
        687,
        2406,
        1761,
        580,
        4682,
        8192,
        1063,
        1483,
        706,
        4794,
        5488,
        1013,
        2915,
        1192,
      ]
    `);
    expect(digest(bytePieces(bytes(2_000_000, 10)))).toMatchInlineSnapshot(`"a1f75e340475"`);
  });
});
