import { expect, test } from "vitest";
import { MessageLines } from "./message-lines.ts";

const linesIn = (lines: MessageLines, ...chunks: string[]): string[] =>
  chunks.flatMap((chunk) => [...lines.take(Buffer.from(chunk, "latin1"))]);

test("lines come whole, however they are cut, with either line end", () => {
  expect(linesIn(new MessageLines(100), "a", "b\nc\r", "\n\nd", "e\n")).toEqual(["ab", "c", "", "de"]);
  const accent = Buffer.from("é\n");
  const lines = new MessageLines(100);
  expect([...lines.take(accent.subarray(0, 1)), ...lines.take(accent.subarray(1))]).toEqual(["é"]);
});

test("a line that is too long is refused without its end being waited for", () => {
  const lines = new MessageLines(4);
  expect(linesIn(lines, "1234\n")).toEqual(["1234"]);
  expect(() => linesIn(lines, "123", "45")).toThrow("more than 4 bytes");
});
