import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { MAX_ARGUMENT_CHARACTERS, normaliseReply, problemOf, withArguments } from "./reply.ts";

const free = { isTaken: () => false, isTool: (name: string) => name === "t" };
const call = (args: unknown, id: string | undefined = "c1", name = "t") => ({ id, name, args }) as never;
const streamed = (args: string, name = "t", id = "c1"): AIMessageChunk =>
  new AIMessageChunk({
    content: "",
    tool_call_chunks: [{ name, args, id, index: 0, type: "tool_call_chunk" }],
  });

describe("a call that cannot be run stays a call, with its problem on record", () => {
  test.each<[string, AIMessage | AIMessageChunk, RegExp]>([
    [
      "text for arguments",
      new AIMessage({ content: "", tool_calls: [call("x")] }),
      /must be a JSON object, but were a string/,
    ],
    ["a list for arguments", new AIMessage({ content: "", tool_calls: [call([1])] }), /an array/],
    ["null for arguments", new AIMessage({ content: "", tool_calls: [call(null)] }), /null/],
    ["no name", new AIMessage({ content: "", tool_calls: [call({}, "c1", "")] }), /names no tool/],
    ["a blank name", new AIMessage({ content: "", tool_calls: [call({}, "c1", "  ")] }), /names no tool/],
    [
      "too long arguments",
      new AIMessage({ content: "", tool_calls: [call({ a: "x".repeat(MAX_ARGUMENT_CHARACTERS + 1) })] }),
      /too long/,
    ],
    [
      "broken JSON",
      new AIMessage({
        content: "",
        invalid_tool_calls: [
          { name: "t", args: '{"a": ', id: "c1", error: "bad", type: "invalid_tool_call" },
        ],
      }),
      /not valid JSON/,
    ],
    ["broken JSON, streamed", streamed('{"a": "b'), /not valid JSON/],
    ["a streamed list", streamed("[1]"), /an array/],
    [
      "cut at the output limit",
      new AIMessage({
        content: "",
        tool_calls: [call({ a: 1 })],
        response_metadata: { stop_reason: "max_tokens" },
      }),
      /cut off/,
    ],
  ])("%s", (_, reply, problem) => {
    const message = normaliseReply(reply, free);
    expect(message.tool_calls).toHaveLength(1);
    expect(message.tool_calls?.[0]).toMatchObject({ id: "c1", args: {} });
    expect(problemOf(message, "c1")).toMatch(problem);
  });

  test("an earlier complete call of a cut reply can be run", () => {
    const reply = new AIMessage({
      content: "",
      tool_calls: [call({ a: 1 }, "c1"), call({ b: 2 }, "c2")],
      response_metadata: { finish_reason: "length" },
    });
    const message = normaliseReply(reply, free);
    expect([problemOf(message, "c1"), problemOf(message, "c2")]).toEqual([
      undefined,
      expect.stringMatching(/cut off/),
    ]);
    expect(message.tool_calls?.[0]?.args).toEqual({ a: 1 });
  });
});

describe("every call can be told apart", () => {
  test("missing, empty and doubled ids are replaced", () => {
    const reply = new AIMessage({
      content: "",
      tool_calls: [call({}, undefined), call({}, ""), call({}, "x"), call({}, "x")],
    });
    const ids = normaliseReply(reply, free).tool_calls?.map((c) => c.id ?? "") ?? [];
    expect(new Set(ids).size).toBe(4);
    expect(ids[2]).toBe("x");
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test("an id an earlier turn used is replaced, in content blocks too", () => {
    const reply = new AIMessage({
      content: [
        { type: "text", text: "ok" },
        { type: "tool_use", id: "old", name: "t", input: { a: 1 } },
      ],
      tool_calls: [call({ a: 1 }, "old")],
    });
    const message = normaliseReply(reply, { ...free, isTaken: (id) => id === "old" });
    const id = message.tool_calls?.[0]?.id;
    expect(id).not.toBe("old");
    expect(message.content).toEqual([
      { type: "text", text: "ok" },
      { type: "tool_use", id, name: "t", input: { a: 1 } },
    ]);
  });
});

test("a name or id no provider would take back is replaced", () => {
  const reply = new AIMessage({
    content: "",
    tool_calls: [call({}, "functions.t:0", "a b.c"), call({}, "x".repeat(60))],
  });
  const message = normaliseReply(reply, free);
  expect(message.tool_calls?.map((c) => c.name)).toEqual(["a_b_c", "t"]);
  for (const c of message.tool_calls ?? []) expect(c.id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  expect(problemOf(message, message.tool_calls?.[0]?.id ?? "")).toBe("There is no tool 'a b.c'.");
});

test("a broken call reported as a content block only is found", () => {
  const content = [{ type: "invalid_tool_call", id: "c1", name: "t", args: "{", error: "bad" }];
  const message = normaliseReply(new AIMessage({ content: content as never }), free);
  expect(problemOf(message, "c1")).toMatch(/not valid JSON/);
});

describe("what is sound is kept", () => {
  test("a sound message is the same object", () => {
    const reply = new AIMessage({ id: "m", content: "hi", tool_calls: [call({ a: 1 })] });
    expect(normaliseReply(reply, free)).toBe(reply);
    const words = new AIMessage("hi");
    expect(normaliseReply(words, free)).toBe(words);
  });

  test("a streamed message becomes a plain one with id, usage and metadata", () => {
    const chunk = streamed('{"a":').concat(
      new AIMessageChunk({
        content: "",
        tool_call_chunks: [{ args: "1}", index: 0, type: "tool_call_chunk" }],
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
        response_metadata: { finish_reason: "tool_calls" },
      }),
    );
    chunk.id = "run-1";
    const message = normaliseReply(chunk, free);
    expect(message).toBeInstanceOf(AIMessage);
    expect(message).toMatchObject({
      id: "run-1",
      tool_calls: [{ id: "c1", name: "t", args: { a: 1 } }],
      usage_metadata: { total_tokens: 3 },
    });
    expect(message.response_metadata.finish_reason).toBe("tool_calls");
  });

  test("edited arguments keep id, other calls and problems", () => {
    const reply = normaliseReply(
      new AIMessage({ id: "m", content: "", tool_calls: [call({ a: 1 }, "c1"), call("bad", "c2")] }),
      free,
    );
    const edited = withArguments(reply, new Map([["c1", { a: 2 }]]));
    expect(edited.id).toBe("m");
    expect(edited.tool_calls?.map((c) => c.args)).toEqual([{ a: 2 }, {}]);
    expect(problemOf(edited, "c2")).toMatch(/string/);
  });
});
