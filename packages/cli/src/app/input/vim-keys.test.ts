import { expect, test } from "vitest";
import { themeOf } from "../view/theme.ts";
import { PromptEditor } from "./prompt-editor.ts";
import { VimKeys } from "./vim-keys.ts";

const ESC = "\x1b";

/** The text after the keys, and whether the next letter would be written. */
function typed(text: string, keys: string): readonly [string, boolean] {
  const editor = new PromptEditor(themeOf("dark", false), {
    rows: () => 30,
    onRender: () => {},
    onSubmit: () => {},
  });
  const vim = new VimKeys((data) => editor.handle(data));
  for (const key of [...text, ESC, ...keys]) if (!vim.handle(key)) editor.handle(key);
  return [editor.text, !vim.isNormal];
}

test.each([
  ["one two", "0x", "ne two", false],
  ["one two", "0dw", " two", false],
  ["one two", "bD", "one ", false],
  ["one two", "dd", "", false],
  ["one two", "0iA ", "A one two", true],
  ["one two", "0A!", "one two!", true],
  ["one two", "bcwsix", "one six", true],
  ["one", "onext", "one\nnext", true],
  ["one", "qzZ", "one", false],
  ["one two", "0dwu", "one two", false],
])("%j with the keys %j is %j", (text, keys, expected, isInsert) => {
  expect(typed(text, keys)).toEqual([expected, isInsert]);
});
