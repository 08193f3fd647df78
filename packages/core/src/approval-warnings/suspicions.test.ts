import { expect, it } from "vitest";
import { suspicions } from "./suspicions.ts";

it.each<[string, readonly string[]]>([
  ["plain text\nwith two lines\n", []],
  ["a\u202eb", ["1 character that turns the direction of text, such as \\u202e"]],
  ["a\u200bb\u200c", ["2 invisible characters, such as \\u200b"]],
  ["a\u00a0b", ["1 unusual space, such as \\xa0"]],
  ["rm -r a   ", ["it ends with 3 blanks"]],
  ["rm -r a\n\n", ["it ends with 2 line breaks"]],
  ["rm -r a \n", ["it ends with 1 blank and 1 line break"]],
  [`a${" ".repeat(200)}b`, ["it goes on after a gap of 200 blanks"]],
  [`a${"\n".repeat(60)}b`, ["it goes on after 59 empty lines"]],
  ["https://example.org/a", []],
  ["https://good.org@evil.org/a", ["the address 'good.org@evil.org' leads to evil.org"]],
  ["https://xn--80ak6aa92e.com", [expect.stringContaining("is not plain letters: it is xn--80ak6aa92e.com")]],
  [
    "https://\u0430pple.com",
    [expect.stringContaining("is not plain letters: it is xn--"), expect.stringContaining("mixes letters")],
  ],
  ["p\u0430ypal", ["'p\\u0430ypal' mixes letters that look alike: Latin and Cyrillic"]],
  ["\u043f\u0440\u0438\u0432\u0435\u0442 plain", []],
] as never)("warns before %j: %j", (text, warnings) => {
  expect(suspicions(text)).toEqual(warnings);
});

it.each([
  ["addresses", (index: number) => `https://good.org@evil${index}.org `],
  ["words", (index: number) => `p\u0430y${index} `],
])("names five %s and no more", (_, text) => {
  const all = Array.from({ length: 9 }, (_unused, index) => text(index)).join("");
  expect(suspicions(all.trim())).toHaveLength(5);
});
