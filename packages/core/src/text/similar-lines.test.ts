import { expect, test } from "vitest";
import { linesLike } from "./similar-lines.ts";

const FILE = "a {\n  port: 3000,\n\thost: 'x',\n}\n";

test.each([
  ["other indentation", "port: 3000,\nhost: 'x',", "  port: 3000,\n\thost: 'x',"],
  ["blanks at line ends and around", "\n    port: 3000, \n host:  'x',\n\n", "  port: 3000,\n\thost: 'x',"],
  ["a single line", "port:   3000,", "  port: 3000,"],
  ["the first line", "  a  {", "a {"],
  ["other words", "port: 4000,", undefined],
  ["a part of a line", "port:", undefined],
  ["nothing but blanks", " \n ", undefined],
])("%s", (_, wanted, found) => {
  expect(linesLike(FILE, wanted)).toBe(found);
});

test("lines that are there twice are not quoted", () => {
  expect(linesLike("  a = 1\nb\n\ta = 1\n", "a = 1")).toBeUndefined();
});
