import { expect, test } from "vitest";
import type { TrialRecord } from "../runner/trial-record.ts";
import { differenceWords } from "./differences.ts";
import { bootstrap, fisher, pairedDifference, showsDifference, wilson } from "./statistics.ts";

/** One trial for each value: 1 passed, 0 failed. */
function columnOf(values: readonly number[]): { readonly records: TrialRecord[] } {
  const records = values.map((value, index) => ({
    category: "numbers",
    case: `case-${index}`,
    status: value === 1 ? "passed" : "failed",
  }));
  return { records: records as TrialRecord[] };
}

const alternating = (length: number, first: number) =>
  Array.from({ length }, (_, index) => (index % 2 === 0 ? first : 1 - first));

test("an interval has the mean in it, is the same each time, and narrows with more cases", () => {
  const few = bootstrap(alternating(10, 1));
  const many = bootstrap(alternating(1_000, 1));
  expect(few).toEqual(bootstrap(alternating(10, 1)));
  expect(few?.mean).toBe(0.5);
  // The 95 % range of a share of 10 is about ±0.31, that of 1,000 about ±0.031.
  expect(few?.low).toBeCloseTo(0.2, 5);
  expect(few?.high).toBeCloseTo(0.8, 5);
  expect(many?.low).toBeCloseTo(0.469, 2);
  expect(many?.high).toBeCloseTo(0.531, 2);
  expect(bootstrap([])).toBeUndefined();
});

test("pairing sees a small constant gain that the spread between cases would hide", () => {
  const before = Array.from({ length: 20 }, (_, index) => index / 40);
  const keyed = (values: readonly number[]) =>
    new Map(values.map((value, index) => [`case-${index}`, value]));
  const paired = pairedDifference(keyed(before.map((value) => value + 0.1)), keyed(before));
  expect(paired?.cases).toBe(20);
  expect(paired?.low).toBeCloseTo(0.1);
  expect(paired?.high).toBeCloseTo(0.1);
});

test("cases of one side alone do not count", () => {
  const one = new Map([
    ["both", 1],
    ["only here", 1],
  ]);
  expect(pairedDifference(one, new Map([["both", 0]]))).toEqual({ mean: 1, low: 1, high: 1, cases: 1 });
  expect(pairedDifference(one, new Map([["elsewhere", 0]]))).toBeUndefined();
});

test("an interval that spans or touches zero shows no difference", () => {
  expect(showsDifference({ mean: 0.1, low: -0.05, high: 0.25 })).toBe(false);
  expect(showsDifference({ mean: 0.1, low: 0, high: 0.2 })).toBe(false);
  expect(showsDifference({ mean: 0.1, low: 0.01, high: 0.2 })).toBe(true);
  expect(showsDifference({ mean: -0.1, low: -0.2, high: -0.01 })).toBe(true);
});

test("the sentence claims a difference only when the interval leaves zero out", () => {
  const half = alternating(20, 1);
  const oneMore = half.map((value, index) => (index === 1 ? 1 : value));
  expect(differenceWords(columnOf(oneMore), columnOf(half))).toMatch(
    /^no difference shown \(0\.0 to \+15\.0 points, 95 % interval over 20 cases\)\.$/,
  );
  const all = half.map(() => 1);
  expect(differenceWords(columnOf(all), columnOf(half))).toMatch(/^\+50\.0 points \(\+\d/);
  expect(differenceWords(columnOf(half), columnOf(all))).toMatch(/^-50\.0 points \(-\d/);
  expect(differenceWords(columnOf([]), columnOf(half))).toBe("no case in common.");
});

test("a share that is whole or none keeps the width of its interval", () => {
  expect(wilson([1])).toMatchObject({ mean: 1, high: 1 });
  expect(wilson([1])?.low).toBeCloseTo(0.207, 3);
  expect(wilson(Array.from({ length: 20 }, () => 1))?.low).toBeCloseTo(0.839, 3);
  expect(wilson(alternating(100, 1))).toMatchObject({ mean: 0.5 });
  expect(wilson(alternating(100, 1))?.low).toBeCloseTo(0.404, 3);
  expect(wilson([])).toBeUndefined();
});

test("a few cases show a difference by all of their trials only", () => {
  const trials = (passed: number) => ({
    records: Array.from({ length: 5 }, (_, index) => columnOf([index < passed ? 1 : 0]).records).flat(),
  });
  expect(differenceWords(trials(5), trials(0))).toBe(
    "+100.0 points (over 1 case, too few for an interval; p = 0.01 by their trials).",
  );
  expect(differenceWords(trials(3), trials(1))).toMatch(/^no difference shown \(over 1 case.*p = 0\.52/);
});

test("Fisher's exact test gives the p of the tea tasting and 1 for equal shares", () => {
  expect(fisher({ passed: 3, trials: 4 }, { passed: 1, trials: 4 })).toBeCloseTo(34 / 70, 10);
  expect(fisher({ passed: 4, trials: 4 }, { passed: 0, trials: 4 })).toBeCloseTo(2 / 70, 10);
  expect(fisher({ passed: 2, trials: 5 }, { passed: 2, trials: 5 })).toBeCloseTo(1, 10);
});
