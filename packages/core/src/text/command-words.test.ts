import { expect, test } from "vitest";
import { commandWords } from "./command-words.ts";

test.each<[string, readonly (readonly string[])[], boolean]>([
  ["bash run.sh", [["bash", "run.sh"]], true],
  ["bash 'a b.sh' \"c d\" e\\ f", [["bash", "a b.sh", "c d", "e f"]], true],
  ["bash r''un.sh", [["bash", "run.sh"]], true],
  ["a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]], true],
  ["a < in.txt > out.txt 2>> log", [["a", "in.txt", "2"]], true],
  ["a 2>&1 | b &> c", [["a", "2"], ["b"]], true],
  ["a\\\nb c", [["ab", "c"]], true],
  ["a *.sh", [["a", "*.sh"]], false],
  ['a "$B"', [["a", "$B"]], false],
  ['a "\\$B"', [["a", "$B"]], true],
  [
    "a $(b c)",
    [
      ["a", "$"],
      ["b", "c"],
    ],
    false,
  ],
  ["a ~/b HEAD~1", [["a", "~/b", "HEAD~1"]], false],
  ["a <<EOF\nb\nEOF", [["a", "EOF"], ["b"], ["EOF"]], false],
  ["a 'b", [["a", "'b"]], false],
  ["", [], true],
])("%j", (text, commands, isPlain) => {
  expect(commandWords(text)).toEqual({ commands, isPlain });
});

test("the rest of a very long text is not read", () => {
  expect(commandWords(`a ${"b".repeat(20_000)} c`)).toMatchObject({ isPlain: false });
});
