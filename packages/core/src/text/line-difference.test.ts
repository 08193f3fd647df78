import { expect, test } from "vitest";
import { lineDifference } from "./line-difference.ts";

test.each([
  ["a\nb", "a\nb", ""],
  ["", "a", "-\n+a"],
  ["a\nb\nc", "a\nc", " a\n-b\n c"],
  ["a\na\na", "a\na", " a\n a\n-a"],
])("the difference of %j and %j is %j", (before, now, expected) =>
  expect(lineDifference(before, now)).toBe(expected),
);
