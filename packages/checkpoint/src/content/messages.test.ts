import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { copyOf, describeValue } from "../saver/describe-for-tests.ts";
import { anyMessage, MESSAGE_CLASSES } from "../saver/values-for-tests.ts";
import { buildClass, classTag, fieldsOf } from "./messages.ts";

const TAGS: Readonly<Record<string, string>> = {
  HumanMessage: "human",
  HumanMessageChunk: "human+",
  SystemMessage: "system",
  SystemMessageChunk: "system+",
  AIMessage: "ai",
  "AIMessage with broken calls": "ai",
  "AIMessage of v1 blocks": "ai",
  AIMessageChunk: "ai+",
  ToolMessage: "tool",
  ToolMessageChunk: "tool+",
  ChatMessage: "generic",
  ChatMessageChunk: "generic+",
  FunctionMessage: "function",
  FunctionMessageChunk: "function+",
  RemoveMessage: "remove",
};

const again = (message: object): BaseMessage =>
  buildClass(classTag(message) as string, copyOf(fieldsOf(message))) as BaseMessage;

function example(name: string): BaseMessage {
  const fields = { id: "m", content: "hello", additional_kwargs: { a: 1 }, response_metadata: { b: 2 } };
  const calls = [
    { id: "c", name: "ls", args: { path: "/" }, type: "tool_call" },
    { id: "d", name: "ls", args: {}, type: "tool_call" },
  ];
  return MESSAGE_CLASSES[name]!(
    fields,
    calls,
    { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    { big: true },
  );
}

describe("messages as fields and back", () => {
  /** Tags are stored: none ever changes. */
  test.each(Object.entries(TAGS))("%s is %s, of its class and with its fields", (name, tag) => {
    const message = example(name);
    expect(classTag(message)).toBe(tag);
    const copy = again(message);
    expect(Object.getPrototypeOf(copy)).toBe(Object.getPrototypeOf(message));
    expect(describeValue(copy)).toBe(describeValue(message));
    expect(copy.type).toBe(message.type);
    expect(copy.text).toBe(message.text);
    expect(copy.contentBlocks).toEqual(message.contentBlocks);
  });

  test.each(Object.keys(TAGS))("%s can be written as LangChain writes it", (name) => {
    const message = example(name);
    const ours = JSON.parse(JSON.stringify(again(message)));
    const theirs = JSON.parse(JSON.stringify(message));
    expect(ours.id).toEqual(theirs.id);
    expect(ours.type).toBe("constructor");
    for (const [key, value] of Object.entries(theirs.kwargs))
      if (key !== "content_blocks") expect(ours.kwargs[key]).toEqual(value);
  });

  test("any message has its fields back", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(describeValue(again(message))).toBe(describeValue(message));
      }),
      { numRuns: 200 },
    );
  });

  test("a message that was changed after it was made comes back changed", () => {
    const message = new AIMessage({
      id: "1",
      content: "before",
      tool_calls: [{ id: "c", name: "t", args: {} }],
    });
    message.content = [{ type: "text", text: "after" }];
    message.tool_calls = [];
    message.response_metadata = { model: "m" };
    message.usage_metadata = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    expect(describeValue(again(message))).toBe(describeValue(message));
  });

  test("what LangChain does with a message works on one that was read", () => {
    const chunk = again(
      new AIMessageChunk({
        id: "1",
        content: "a",
        tool_call_chunks: [{ index: 0, id: "c", name: "t", args: '{"x":' }],
      }),
    ) as AIMessageChunk;
    const whole = chunk.concat(
      new AIMessageChunk({ content: "b", tool_call_chunks: [{ index: 0, args: "1}" }] }),
    );
    expect(whole.content).toBe("ab");
    expect(whole.tool_calls?.[0]).toMatchObject({ name: "t", args: { x: 1 } });
    expect(HumanMessage.isInstance(again(new HumanMessage("hi")))).toBe(true);
    expect((again(new SystemMessage("rules")) as SystemMessage).concat(" more").text).toBe("rules more");
  });

  test("only messages and documents have tags, and only tags build anything", () => {
    for (const value of [{}, [], new Date(), { type: "human", content: "" }, { lc: 1 }, new Map()])
      expect(classTag(value)).toBeUndefined();
    for (const tag of ["", "Human", "constructor", "__proto__", "toString", "HumanMessage"])
      expect(buildClass(tag, {})).toBeUndefined();
    const document = new Document({ pageContent: "p", metadata: { a: [1] }, id: "d" });
    expect(classTag(document)).toBe("document");
    expect(buildClass("document", fieldsOf(document))).toEqual(document);
  });

  test("a field called __proto__ is data, and the message stays one", () => {
    const fields = JSON.parse('{"content": "x", "__proto__": {"type": "ai", "isAdmin": true}}');
    const message = buildClass("human", fields) as HumanMessage & { isAdmin?: unknown };
    expect(message).toBeInstanceOf(HumanMessage);
    expect(message.isAdmin).toBeUndefined();
    expect(Object.hasOwn(fieldsOf(message), "__proto__")).toBe(true);
  });

  test("a message of a class of one's own is not taken for another", () => {
    class Whisper extends HumanMessage {
      secret = 1;
    }
    expect(fieldsOf(new Whisper("psst"))).toMatchObject({ content: "psst", secret: 1 });
    const odd = Object.assign(new HumanMessage("x"), { type: "martian" });
    expect(classTag(odd)).toBeUndefined();
  });
});
