import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { isMadeByLoop, returnCount, stampOf } from "../../channel-values.ts";
import { coerceMessages, isCallIdTaken, lastTurn, type Messages, messagesReducer } from "./messages.ts";

const human = (id: string, content = id): HumanMessage => new HumanMessage({ id, content });
const calling = (id: string, ...calls: string[]): AIMessage =>
  new AIMessage({ id, content: "", tool_calls: calls.map((call) => ({ id: call, name: "t", args: {} })) });
const result = (id: string, call: string, content = id): ToolMessage =>
  new ToolMessage({ id, tool_call_id: call, content, name: "t" });
const ids = (messages: Messages): (string | undefined)[] => messages.map((message) => message.id);
const reduce = (...steps: unknown[]): Messages =>
  steps.reduce<Messages>((left, right) => messagesReducer(left, right), []);

describe("the messages channel", () => {
  test("adds, replaces by id and removes", () => {
    const list = reduce(
      [human("a"), human("b")],
      [human("b", "new"), human("c")],
      new RemoveMessage({ id: "a" }),
    );
    expect(list.map((message) => message.content)).toEqual(["new", "c"]);
  });

  test("removing a message that is not there changes nothing", () => {
    expect(ids(reduce([human("a")], new RemoveMessage({ id: "zzz" })))).toEqual(["a"]);
  });

  test("a remove-all keeps only what follows it", () => {
    const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES });
    expect(ids(reduce([human("a"), human("b")], [human("x"), all, human("c")]))).toEqual(["c"]);
  });

  test("returns the same array when there is nothing to add", () => {
    const list = reduce([human("a")]);
    expect(messagesReducer(list, [])).toBe(list);
    expect(messagesReducer(undefined, undefined)).toEqual([]);
  });

  test("keeps the objects that did not change", () => {
    const first = human("a");
    const list = reduce([first], [human("b")]);
    expect(list[0]).toBe(first);
  });

  test("takes strings, tuples and role objects, and gives every message an id", () => {
    const list = coerceMessages(["hi", ["user", "two"], { role: "assistant", content: "three" }]);
    expect(list.map((message) => message.getType())).toEqual(["human", "human", "ai"]);
    expect(new Set(list.map((message) => message.id)).size).toBe(3);
    expect(coerceMessages("just text")).toHaveLength(1);
    expect(coerceMessages(["user", "a pair"])).toHaveLength(1);
  });

  test("two branches from one array do not disturb each other", () => {
    const base = reduce([human("a")]);
    const left = messagesReducer(base, [human("x")]);
    const right = messagesReducer(base, [human("y"), human("x", "right")]);
    expect(ids(messagesReducer(left, [human("x", "again")]))).toEqual(["a", "x"]);
    expect(ids(messagesReducer(right, [human("x", "again")]))).toEqual(["a", "y", "x"]);
    expect(messagesReducer(left, [human("x", "again")])[1]?.content).toBe("again");
  });
});

describe("what savers are told", () => {
  test("every list is the loop's own, and every message in it came in", () => {
    const list = reduce([human("a"), human("b")], [human("b", "new")], new RemoveMessage({ id: "a" }));
    expect(isMadeByLoop(list)).toBe(true);
    expect(list.every((message) => stampOf(message) !== undefined)).toBe(true);
  });

  test("a message given again makes a new list, and its stamp changes; the others keep theirs", () => {
    const [first, second] = [human("a"), human("b")];
    const list = reduce([first, second]);
    const stamps = [stampOf(first), stampOf(second)];
    const returns = returnCount();
    first.content = "edited in place";
    const next = messagesReducer(list, [first]);
    expect(next).not.toBe(list);
    expect(ids(next)).toEqual(["a", "b"]);
    expect(stampOf(first)).toBeGreaterThan(stamps[0] as number);
    expect(stampOf(second)).toBe(stamps[1]);
    expect(returnCount()).toBe(returns + 1);
  });

  test("adding stamps only what is new", () => {
    const list = reduce([human("a"), human("b")]);
    const stamps = list.map((message) => stampOf(message));
    const returns = returnCount();
    const next = messagesReducer(list, [human("c")]);
    expect(next.slice(0, 2).map((message) => stampOf(message))).toEqual(stamps);
    expect(returnCount()).toBe(returns);
  });
});

describe("results stand behind their calls", () => {
  test.each<[string, unknown[], string[]]>([
    [
      "in call order, whichever came first",
      [[result("r2", "c2")], [result("r1", "c1")]],
      ["h", "ai", "r1", "r2"],
    ],
    [
      "also when a message came in between",
      [[human("h2")], [result("r1", "c1"), result("r2", "c2")]],
      ["h", "ai", "r1", "r2", "h2"],
    ],
    [
      "a tool's extra message does not part them",
      [[result("r1", "c1"), human("image")], [result("r2", "c2")]],
      ["h", "ai", "r1", "r2", "image"],
    ],
    [
      "a second result for a call replaces the first",
      [[result("r1", "c1")], [result("other", "c1")]],
      ["h", "ai", "other"],
    ],
    ["a result without a call is added at the end", [[result("orphan", "nobody")]], ["h", "ai", "orphan"]],
  ])("%s", (_, steps, expected) => {
    expect(ids(reduce([human("h"), calling("ai", "c1", "c2")], ...steps))).toEqual(expected);
  });

  test("an id used again in a later turn belongs to that turn", () => {
    const list = reduce([calling("a1", "c")], [result("r1", "c")], [calling("a2", "c")], [result("r2", "c")]);
    expect(ids(list)).toEqual(["a1", "r1", "a2", "r2"]);
  });

  test("inserting keeps replacing by id right", () => {
    const list = reduce([calling("ai", "c1")], [human("h2")], [result("r1", "c1")], [human("h2", "changed")]);
    expect(list.map((message) => message.content)).toEqual(["", "r1", "changed"]);
  });
});

test("adding to a long list looks at no old message", () => {
  const reads = (size: number): number => {
    let count = 0;
    const watched = Array.from({ length: size }, (_, i) => {
      const message = human(`m${i}`);
      return new Proxy(message, {
        get(target, key) {
          count += 1;
          return Reflect.get(target, key, target);
        },
      });
    });
    let list = messagesReducer([], watched as BaseMessage[]);
    list = messagesReducer(list, [human("warm")]);
    count = 0;
    for (let i = 0; i < 10; i += 1)
      list = messagesReducer(list, [calling(`ai${i}`, `c${i}`), result(`r${i}`, `c${i}`)]);
    return count;
  };
  expect(reads(50)).toBe(0);
  expect(reads(5_000)).toBe(0);
});

describe("the last turn", () => {
  test("tells what is unanswered", () => {
    const list = reduce([human("h"), calling("ai", "c1", "c2", "c3")], [result("r2", "c2")]);
    expect(lastTurn(list)?.pending).toEqual([
      { id: "c1", index: 0 },
      { id: "c3", index: 2 },
    ]);
  });

  test("is absent before the model spoke", () => {
    expect(lastTurn(reduce([human("h")]))).toBeUndefined();
  });
});

test("a call id is taken once an assistant message of the thread used it", () => {
  const list = reduce([calling("ai", "c1")]);
  expect([isCallIdTaken(list, "c1"), isCallIdTaken(list, "c2"), isCallIdTaken([...list], "c1")]).toEqual([
    true,
    false,
    true,
  ]);
});
