import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { checkRequest } from "../../testing/request-checker.ts";
import { checkedLength, messagesReducer } from "./messages.ts";
import { DID_NOT_COMPLETE, missingResults, requestMessages } from "./request.ts";

const human = (id: string): HumanMessage => new HumanMessage({ id, content: id });
const says = (id: string, content: AIMessage["content"] = id): AIMessage => new AIMessage({ id, content });
const calling = (id: string, ...calls: string[]): AIMessage =>
  new AIMessage({ id, content: "", tool_calls: calls.map((call) => ({ id: call, name: "t", args: {} })) });
const result = (id: string, call: string): ToolMessage =>
  new ToolMessage({ id, tool_call_id: call, content: id, name: "t" });
const outline = (messages: readonly BaseMessage[]): string[] =>
  messages.map((m) =>
    ToolMessage.isInstance(m) ? `${m.tool_call_id}=${m.status === "error" ? "error" : "ok"}` : (m.id ?? ""),
  );

describe("a request is valid whatever happened to the thread", () => {
  test.each<[string, BaseMessage[], string[]]>([
    [
      "a sound thread is sent as it is",
      [human("h"), calling("a", "c"), result("r", "c"), says("b")],
      ["h", "a", "c=ok", "b"],
    ],
    [
      "a dangling call gets a result",
      [human("h"), calling("a", "c"), human("h2")],
      ["h", "a", "c=error", "h2"],
    ],
    [
      "one of two dangling",
      [human("h"), calling("a", "c", "d"), result("r", "c"), human("i")],
      ["h", "a", "c=ok", "d=error", "i"],
    ],
    ["an orphan result is left out", [human("h"), result("r", "c"), says("b")], ["h", "b"]],
    [
      "results in the wrong order are put right",
      [human("h"), calling("a", "c", "d"), result("r2", "d"), result("r1", "c")],
      ["h", "a", "c=ok", "d=ok"],
    ],
    [
      "a result further down is fetched",
      [human("h"), calling("a", "c"), human("i"), result("r", "c")],
      ["h", "a", "c=ok", "i"],
    ],
    [
      "a doubled result counts once",
      [human("h"), calling("a", "c"), result("r", "c"), result("s", "c")],
      ["h", "a", "c=ok"],
    ],
    ["an empty reply is left out", [human("h"), says("e", ""), human("i")], ["h", "i"]],
    [
      "so is one that only thought",
      [human("h"), says("e", [{ type: "thinking", thinking: "hm" }] as never), human("i")],
      ["h", "i"],
    ],
  ])("%s", (_, messages, expected) => {
    const request = requestMessages(messages);
    expect(outline(request)).toEqual(expected);
    expect(checkRequest([new SystemMessage("s"), ...request])).toEqual([]);
  });

  test("the same array is sent when nothing had to be mended", () => {
    const messages = [human("h"), calling("a", "c"), result("r", "c")];
    expect(requestMessages(messages)).toBe(messages);
  });
});

test("finished turns are never looked at twice", () => {
  const reads = (turns: number): number => {
    let count = 0;
    const watch = <M extends BaseMessage>(message: M): M =>
      new Proxy(message, {
        get(target, key) {
          if (key === "tool_calls" || key === "content") count += 1;
          return Reflect.get(target, key, target);
        },
      });
    let list = messagesReducer([], [human("h")]);
    for (let i = 0; i < turns; i += 1)
      list = messagesReducer(list, [watch(calling(`a${i}`, `c${i}`)), watch(result(`r${i}`, `c${i}`))]);
    requestMessages(list);
    expect(checkedLength(list)).toBe(list.length);
    list = messagesReducer(list, [calling("last", "cl"), result("rl", "cl")]);
    count = 0;
    requestMessages(list);
    return count;
  };
  expect([reads(50), reads(2_500)]).toEqual([0, 0]);
});

test.each<[string, BaseMessage, string[]]>([
  ["replaced", result("r2", "d"), ["h", "a", "c=ok", "d=ok", "e=ok", "b"]],
  ["removed", new RemoveMessage({ id: "r3" }), ["h", "a", "c=ok", "d=ok", "e=error", "b"]],
])("a finished turn is looked at as a whole once one of its results was %s", (_, change, expected) => {
  const results = [result("r1", "c"), result("r2", "d"), result("r3", "e")];
  const list = messagesReducer([], [human("h"), calling("a", "c", "d", "e"), ...results, says("b")]);
  requestMessages(list);
  const request = requestMessages(messagesReducer(list, [change]));
  expect(outline(request)).toEqual(expected);
  expect(checkRequest(request)).toEqual([]);
});

test("what is missing can be listed, with words of the caller's choice", () => {
  const messages = [human("h"), calling("a", "c", "d"), result("r", "c")];
  expect(missingResults(messages).map((m) => [m.tool_call_id, m.content, m.status])).toEqual([
    ["d", DID_NOT_COMPLETE, "error"],
  ]);
  expect(missingResults(messages, (id) => `${id} crashed`)[0]?.content).toBe("d crashed");
});

test("repair reads each message a few times, however many calls have no result", () => {
  const count = 400;
  let reads = 0;
  const watched = Array.from({ length: count }, (_, i) => {
    const message = calling(`a${i}`, `c${i}`);
    const calls = message.tool_calls;
    return Object.defineProperty(message, "tool_calls", {
      get: () => {
        reads += 1;
        return calls;
      },
    });
  });
  const mended = requestMessages([says("silent", ""), ...watched]);
  expect(reads).toBeLessThan(10 * count);
  expect(checkRequest(mended)).toEqual([]);
  expect(mended).toHaveLength(2 * count);
});
