import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { CORPUS, KINDS, randomFrom } from "./context/tokens/corpus-for-tests.ts";
import { estimateTokens } from "./tokens.ts";

describe("an estimate is within 15 % of the real vocabulary", () => {
  test.each(KINDS)("for %s", (kind) => {
    for (const seed of [1, 2, 3]) {
      const text = CORPUS[kind](randomFrom(seed), 12_000);
      const ratio = estimateTokens(text) / o200k(text);
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
    }
  });

  test("for a text that is all of these at once", () => {
    const random = randomFrom(4);
    const text = KINDS.map((kind) => CORPUS[kind](random, 1500)).join("\n");
    const ratio = estimateTokens(text) / o200k(text);
    expect(ratio).toBeGreaterThan(0.95);
    expect(ratio).toBeLessThan(1.05);
  });
});

test("nothing has no tokens, and a word has one", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens("a")).toBe(1);
});

test("a text of many megabytes is measured at places that stand for all of it", () => {
  const random = randomFrom(5);
  const parts = Array.from({ length: 60 }, (_, i) =>
    CORPUS[KINDS[i % KINDS.length] as (typeof KINDS)[number]](random, 50_000),
  );
  const whole = parts.reduce((sum, part) => sum + estimateTokens(part), 0);
  const ratio = estimateTokens(parts.join("")) / whole;
  expect(ratio).toBeGreaterThan(0.96);
  expect(ratio).toBeLessThan(1.04);
});

test("half a character, control characters and unassigned ones are counted without complaint", () => {
  for (const text of ["\ud83d", "\udc00\udc00", "\u0000\u0001\u0007", "\u0378\uffff", " ", "\r\n\r\n", "\t"])
    expect(estimateTokens(text)).toBeGreaterThan(0);
});
