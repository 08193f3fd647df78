import { expect, test } from "vitest";
import { textsAtPath } from "./text-at-path.ts";

const value = {
  title: "T",
  count: 3,
  draft: false,
  none: null,
  author: { name: "A", tags: ["x", "y"] },
  chapters: [{ text: "one" }, { text: "two" }, { other: 1 }],
};

test.each([
  ["title", ["T"]],
  ["count", ["3"]],
  ["draft", ["false"]],
  ["none", []],
  ["missing.deeper", []],
  ["title.deeper", []],
  ["author.name", ["A"]],
  ["author.tags", ['[\n  "x",\n  "y"\n]']],
  ["author.tags[*]", ["x", "y"]],
  ["author.tags[-1]", ["y"]],
  ["author.tags[5]", []],
  ["author.tags[x]", []],
  ["author.*", ["A", '[\n  "x",\n  "y"\n]']],
  ["chapters[*].text", ["one", "two"]],
  ["chapters[1].text", ["two"]],
  ["{title,author.name}", ["T", "A"]],
  ["constructor", []],
  ["__proto__", []],
])("the texts at %s are %j", (path, texts) => {
  expect(textsAtPath(value, path)).toEqual(texts);
});

test("the whole value is its JSON", () => {
  expect(textsAtPath({ a: 1 }, "$")).toEqual(['{\n  "a": 1\n}']);
});
