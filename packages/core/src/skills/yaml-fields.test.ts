import { describe, expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { readFields } from "./yaml-fields.ts";

const aliasBomb = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ..."bcdefghij"
    .split("")
    .map((key, i) => `${key}: &${key} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(", ")}]`),
].join("\n");

describe("front matter in full YAML", () => {
  test("is read where the quick reader does not know the form", async () => {
    const text = "name: pdf\ndescription: >-\n  Folded\n  text\nmetadata: {author: me, version: 1.0}\n";
    expect((await readFields(text)).fields).toEqual(
      new Map<string, unknown>([
        ["name", "pdf"],
        ["description", "Folded text"],
        [
          "metadata",
          new Map([
            ["author", "me"],
            ["version", "1.0"],
          ]),
        ],
      ]),
    );
  });

  test("may use a few aliases", async () => {
    const { fields } = await readFields("name: &n pdf\ndescription: *n\n");
    expect(fields?.get("description")).toBe("pdf");
  });

  test("takes a value with a colon in it as text, and says so", async () => {
    const result = await readFields("name: pdf\ndescription: Use this: it's for 'forms'\n");
    expect(result).toMatchObject({ quoted: ["description"] });
    expect(result.fields?.get("description")).toBe("Use this: it's for 'forms'");
  });

  test.each([
    ["an alias bomb", aliasBomb, /alias/],
    ["text that is no YAML", "name: [a\ndescription: }{", /not valid YAML/],
    ["a tag of somebody's own", "name: !!js/function 'x'\n", /tag/],
    ["a tag that asks for another type", "name: !custom x\n", /tag/],
    ["a list", "- name: x\n", /key: value/],
    ["nothing", "# only a comment\n", /key: value/],
    ["a key that is there twice", "name: a\nname: b\n", /twice/],
    ["brackets 60,000 deep", `name: ${"[".repeat(60_000)}`, /deep/],
    ["braces 60,000 deep", "{".repeat(60_000), /deep/],
    ["a list in a list, 30,000 deep", "- ".repeat(30_000), /deep/],
    ["a key in a key, 30,000 deep", "? ".repeat(30_000), /deep/],
    ["a list in a list over tabs", "-\t".repeat(30_000), /deep/],
  ])("%s is refused in good time", async (_, text, reason) => {
    const { problem } = await withinCpuLimit("hostile front matter is refused", () => readFields(text));
    expect(problem).toMatch(reason);
  });
});
