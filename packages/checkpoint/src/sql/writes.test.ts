import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeEntries, encodeEntries, mergeEntries } from "./writes.ts";

const entry = fc.record({
  index: fc.integer({ min: -5, max: 20 }),
  channel: fc.string({ unit: "binary" }),
  body: fc.string({ unit: "grapheme" }),
  refs: fc.array(fc.nat(100_000), { maxLength: 4 }),
});

it("entries of a task come back from its row as they were, whatever is in them", () => {
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      expect(decodeEntries({ ...encodeEntries(entries) })).toEqual(entries);
    }),
  );
});

it("an entry put twice is the first one, or the last if it is a special one", () => {
  const at = (index: number, body: string) => ({ index, channel: "c", body, refs: [] });
  const merged = mergeEntries([at(0, "old"), at(-1, "old")], [at(0, "new"), at(-1, "new"), at(1, "new")]);
  expect(merged).toEqual([at(-1, "new"), at(0, "old"), at(1, "new")]);
});
