import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { frontMatterOf, MAX_FRONT_MATTER_LENGTH, readSimpleFields } from "./front-matter.ts";

function byParser(text: string): unknown {
  const document = parseDocument(text, { schema: "failsafe", logLevel: "silent" });
  if (document.errors.length > 0) return new Error(document.errors[0]?.message);
  return document.toJS({ mapAsMap: true });
}

describe("the front matter of a file", () => {
  test.each([
    ["---\nname: a\n---\nbody", "name: a\n"],
    ["---\r\nname: a\r\n---\r\nbody", "name: a\r\n"],
    ["\uFEFF---  \nname: a\n--- \nbody", "name: a\n"],
    ["---\nname: a\n---", "name: a\n"],
    ["---\n---\nbody", ""],
    ["---\na: x --- y\n----\n---\n", "a: x --- y\n----\n"],
  ])("%j holds %j", (head, text) => {
    expect(frontMatterOf(head)).toEqual({ text });
  });

  test.each([
    ["", "none"],
    ["# Title\n---\nname: a\n---\n", "none"],
    ["----\nname: a\n---\n", "none"],
    ["---\nname: a\n", "open"],
    [`---\nname: ${"a".repeat(MAX_FRONT_MATTER_LENGTH)}\n---\n`, "long"],
  ])("%#: it has none that can be used", (head, problem) => {
    expect(frontMatterOf(head)).toEqual({ problem });
  });
});

describe("the quick reader", () => {
  test.each([
    "name: pdf\ndescription: Fill in forms. Use it when: never\n",
    "name: pdf\ndescription: Fill in forms (all of them), 100% #1\n",
    "name: 'it''s'\ndescription: \"quoted: text\"\nversion: 1.0\n",
    'metadata:\n  author: me\n  version: "1.0"\nallowed-tools: Bash(git:*) Read\n',
    "allowed-tools:\n  - Read\n  - Bash(git add:*)\nlicense: MIT\n",
    "allowed-tools:\n- Read\n- Write\nlicense:\n",
    "allowed-tools: [read_file, grep]\n",
    "description: >-\n  folded\n  text\n",
    "a: x\n  y\n",
    "a:\n  b: 1\n    c: 2\n",
    "a: [x, 'y']\n",
    "a: &anchor x\nb: *anchor\n",
    "a: x # comment\n",
    "a: x\na: y\n",
    "a:\n  - x\n - y\n",
    "a: - x\n",
    "a: x:\n",
    "a: http://example.org/x#y\n",
    "a: ...\n",
    "a: \ud83d\ude00 face\n",
  ])("says what a parser says, or nothing: %j", (text) => {
    const fields = readSimpleFields(text);
    if (fields !== undefined) expect(fields).toEqual(byParser(text));
  });

  test("reads the usual forms itself", () => {
    const text = `name: pdf-forms
description: Fills in PDF forms. Use when the user has a form.
license: Apache-2.0
metadata:
  author: somebody
  version: "1.0"
allowed-tools:
  - read_file
  - execute
`;
    expect(readSimpleFields(text)).toEqual(byParser(text));
    expect(readSimpleFields(text.replaceAll("\n", "\r\n"))).toEqual(byParser(text));
  });

  test("never differs from a parser, whatever is written", () => {
    const word = fc.constantFrom(
      ..."a b-c x:y x: :x #z z# ' '' \" \\ - -- --- ... [ ] { } , & * ! | > % @ ` ? ~ null 1.0 é 漢字 😀 \t".split(
        " ",
      ),
      " ",
      "  ",
      "",
      "\u00a0",
      "\u0085",
      "\u2028",
      "\ud800",
      "\u007f",
      "\r",
      "=",
      "<<",
    );
    const value = fc
      .array(word, { maxLength: 5 })
      .chain((words) =>
        fc.constantFrom(
          words.join(" "),
          words.join(""),
          `'${words.join(" ")}'`,
          `"${words.join(" ")}"`,
          `[${words.join(", ")}]`,
        ),
      );
    const key = fc.constantFrom("name", "description", "a", "b-c", "x_y", "metadata");
    const line = fc.oneof(
      fc.tuple(key, value).map(([k, v]) => `${k}: ${v}`),
      fc.tuple(fc.constantFrom(" ", "  ", "    "), key, value).map(([indent, k, v]) => `${indent}${k}: ${v}`),
      fc.tuple(fc.constantFrom("", " ", "  "), value).map(([indent, v]) => `${indent}- ${v}`),
      key.map((k) => `${k}:`),
      value,
      fc.constantFrom("", "  ", "# comment", "  # comment"),
    );
    const text = fc.array(line, { maxLength: 7 }).map((lines) => lines.join("\n"));
    let read = 0;
    fc.assert(
      fc.property(text, (given) => {
        const fields = readSimpleFields(given);
        if (fields === undefined) return;
        read += 1;
        expect(fields).toEqual(byParser(given));
      }),
      { numRuns: 20_000 },
    );
    expect(read).toBeGreaterThan(500);
  });
});
