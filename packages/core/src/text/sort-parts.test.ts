import { expect, test } from "vitest";
import { sortParts } from "./sort-parts.ts";

function sorted(list: readonly number[]): { list: number[]; turns: number } {
  const parts = sortParts(list, (one, other) => one - other);
  for (let turns = 0; ; turns++) {
    const { done, value } = parts.next();
    if (done) return { list: value, turns };
  }
}

test.each([0, 1, 2, 8_192, 8_193, 50_000])("a list of %i is sorted as a whole", (length) => {
  const list = Array.from({ length }, (_, index) => (index * 7_919) % 10_007);
  expect(sorted(list).list).toEqual(list.toSorted((one, other) => one - other));
});

test("a long list is sorted in many parts", () => {
  expect(sorted(Array.from({ length: 100_000 }, (_, index) => -index)).turns).toBeGreaterThan(24);
});
