import { AIMessageChunk } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { GrowingMessage } from "./growing-message.ts";

function shownOf(pieces: readonly AIMessageChunk[]): AIMessageChunk[] {
  const growing = new GrowingMessage();
  return pieces.map((piece) => growing.add(piece)).filter((whole) => whole !== undefined) as AIMessageChunk[];
}

test("a short message is shown with each piece", () => {
  const shown = shownOf(["a", "b", "c"].map((content) => new AIMessageChunk({ content })));
  expect(shown.map(({ text }) => text)).toEqual(["a", "ab", "abc"]);
});

test("a long call in small pieces is shown whenever it has grown by a part of itself", () => {
  const json = JSON.stringify({ content: "some words\n".repeat(20_000) });
  const pieces = [call({ id: "c", name: "write_file", args: "" })];
  for (let at = 0; at < json.length; at += 8) pieces.push(call({ args: json.slice(at, at + 8) }));
  const shown = shownOf(pieces);
  const small = 8_192 / 8;
  expect(shown.length).toBeGreaterThan(small);
  expect(shown.length).toBeLessThan(small + 300);
  const text = shown.at(-1)?.tool_call_chunks?.[0]?.args ?? "";
  expect(json.startsWith(text)).toBe(true);
  expect(text.length).toBeGreaterThan(json.length * 0.98);
});

function call(chunk: { id?: string; name?: string; args: string }): AIMessageChunk {
  return new AIMessageChunk({ content: "", tool_call_chunks: [{ index: 0, ...chunk }] });
}
