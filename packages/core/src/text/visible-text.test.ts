import { expect, test } from "vitest";
import { hasHidden, visibleLine, visibleText } from "./visible-text.ts";

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["😀😀😀", 3, "😀😀😀"],
  ["😀😀😀😀", 3, "😀😀…"],
  ["  a \n\t b ", 9, "a b"],
])("%j on a line of %i characters is %j", (text, most, expected) => {
  expect(visibleLine(text, most)).toBe(expected);
});

test.each([
  ["a\u202eb", "a\\u202eb"],
  ["a\u{e0041}b", "a\\u{e0041}b"],
  ["a\0b", "a\\u0000b"],
  ["a\r\nb\tc", "a\nb\tc"],
  ["👩\u200d💻 ✔\ufe0f", "👩\u200d💻 ✔\ufe0f"],
])("%j is shown as %j", (text, expected) => {
  expect(visibleText(text)).toBe(expected);
  expect(hasHidden(text)).toBe(text !== expected);
});
