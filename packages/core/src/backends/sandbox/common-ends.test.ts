import { describe, expect, it } from "vitest";
import { commonEnds } from "./common-ends.ts";

const ends = (one: string, other: string): [number, number] => {
  const { before, behind } = commonEnds(Buffer.from(one), Buffer.from(other));
  return [before, behind];
};

describe("commonEnds", () => {
  it.each<[string, string, [number, number]]>([
    ["", "", [0, 0]],
    ["abc", "abc", [3, 0]],
    ["abc", "abXc", [2, 1]],
    ["aaa", "aa", [2, 0]],
    ["aa", "aaa", [2, 0]],
    ["abab", "ab", [2, 0]],
    ["abc", "xyz", [0, 0]],
    ["abc", "xbc", [0, 2]],
  ])("of %j and %j are %j", (one, other, expected) => expect(ends(one, other)).toEqual(expected));

  it("are found in long contents wherever the change is", () => {
    const long = Array.from({ length: 5000 }, (_, n) => `line ${n}\n`).join("");
    for (const at of [0, 1, 4095, 4096, 4097, 20_000, long.length - 4096, long.length]) {
      const changed = `${long.slice(0, at)}§${long.slice(at)}`;
      expect(ends(long, changed)).toEqual([at, long.length - at]);
      expect(ends(changed, long)).toEqual([at, long.length - at]);
    }
  });
});
