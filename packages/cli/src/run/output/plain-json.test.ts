import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { plainJson } from "./plain-json.ts";

const plain = (value: unknown): unknown => JSON.parse(plainJson(value));

describe("plainJson", () => {
  it("messages are plain objects with type, role and what they carry", () => {
    const call = { name: "ls", args: { path: "/" }, id: "c1", type: "tool_call" as const };
    expect(plain(new AIMessage({ id: "m1", content: "Hi", tool_calls: [call] }))).toEqual({
      type: "ai",
      role: "assistant",
      id: "m1",
      content: "Hi",
      tool_calls: [call],
    });
    expect(plain([new HumanMessage("task")])).toEqual([{ type: "human", role: "user", content: "task" }]);
    const result = new ToolMessage({ content: "ok", tool_call_id: "c1", name: "ls", status: "success" });
    expect(plain({ messages: [result] })).toEqual({
      messages: [
        { type: "tool", role: "tool", name: "ls", content: "ok", tool_call_id: "c1", status: "success" },
      ],
    });
  });

  it("a piece of a call keeps its argument text", () => {
    const chunk = { index: 0, id: "c", name: "ls", args: '{"pa', type: "tool_call_chunk" as const };
    expect(plain(new AIMessageChunk({ content: "", tool_call_chunks: [chunk] }))).toMatchObject({
      content: "",
      tool_call_chunks: [chunk],
    });
  });

  it("never fails, whatever a tool put into the state", () => {
    const circle: Record<string, unknown> = { big: 12n, fn: () => 1, sym: Symbol("x") };
    circle.self = circle;
    circle.list = [circle, undefined, () => 1];
    const shared = { a: 1 };
    Object.defineProperty(circle, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect(plain({ circle, one: shared, two: shared })).toEqual({
      circle: { big: "12", self: "[circular]", list: ["[circular]", null, null], bad: "[unreadable]" },
      one: { a: 1 },
      two: { a: 1 },
    });
  });

  it.each([
    [undefined, null],
    [Number.NaN, null],
    [new Date("invalid"), null],
    [new Map([["a", new Set([1])]]), { a: [1] }],
    [new TypeError("bad"), { name: "TypeError", message: "bad" }],
    [new Uint8Array([104, 105]), "aGk="],
    [JSON.parse('{"__proto__": {"x": 1}}'), JSON.parse('{"__proto__": {"x": 1}}')],
  ])("%s becomes %j", (value, expected) => {
    expect(plain(value)).toEqual(expected);
  });

  it("very deep values end somewhere", () => {
    let deep: unknown = "bottom";
    for (let i = 0; i < 10_000; i += 1) deep = [deep];
    expect(plainJson(deep)).toContain("[too deep]");
  });
});
