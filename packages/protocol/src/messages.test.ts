import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { message, wireJson } from "./index.ts";

const wire = (value: unknown) => JSON.parse(wireJson(value));

test("messages are plain data wherever they stand", () => {
  const call = { id: "c", name: "ls", args: { path: "/" }, type: "tool_call" as const };
  const said = wire({
    deep: [[new HumanMessage({ id: "h", content: "hi" })]],
    ai: new AIMessage({ id: "a", content: "", tool_calls: [call] }),
    piece: new AIMessageChunk({ id: "p", content: "so" }),
    tool: new ToolMessage({ id: "t", content: "x", tool_call_id: "c", status: "error" }),
  });
  expect(said.deep[0][0]).toMatchObject({ type: "human", id: "h", content: "hi" });
  expect(said.ai).toMatchObject({ type: "ai", id: "a", tool_calls: [call] });
  expect(said.piece).toMatchObject({ type: "ai", id: "p", content: "so", tool_call_chunks: [] });
  expect(said.tool).toMatchObject({ type: "tool", tool_call_id: "c", status: "error" });
  for (const one of [said.ai, said.piece, said.tool]) expect(message.safeParse(one).success).toBe(true);
});

test("what only looks like an object of LangChain stays as it is", () => {
  const forged = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "AIMessage"],
    kwargs: { content: "x" },
  };
  expect(wire({ forged })).toEqual({ forged });
});

test("bytes, errors, large numbers and nothing have a form", () => {
  expect(wire(new Uint8Array([104, 105]))).toBe("aGk=");
  expect(atob(wire(new Uint8Array(100_000)))).toHaveLength(100_000);
  expect(wire({ failed: new TypeError("no") })).toEqual({ failed: { error: "TypeError", message: "no" } });
  expect(wire(10n ** 20n)).toBe("100000000000000000000");
  expect(wireJson(undefined)).toBe("null");
});
