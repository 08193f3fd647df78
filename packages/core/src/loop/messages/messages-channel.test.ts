import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { Overwrite, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { isMadeByLoop, returnCount, stampOf } from "../../channel-values.ts";
import { MessagesChannel } from "./messages-channel.ts";

const human = (id: string): HumanMessage => new HumanMessage({ id, content: id });
const calling = (id: string, ...calls: string[]): AIMessage =>
  new AIMessage({ id, content: "", tool_calls: calls.map((call) => ({ id: call, name: "t", args: {} })) });
const result = (call: string, id = `${call}-result`): ToolMessage =>
  new ToolMessage({ id, tool_call_id: call, content: id, name: "t" });
const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES });
const turn = [human("h"), calling("a", "x", "y", "z")];

/** The ids in a channel that held `start` and then took all of `writes` in one superstep. */
function after(start: readonly BaseMessage[], ...writes: unknown[]): (string | undefined)[] {
  const channel = new MessagesChannel().fromCheckpoint(start);
  expect(channel.update(writes)).toBe(writes.length > 0);
  return (channel.get() as BaseMessage[]).map((message) => message.id);
}

describe("the messages channel in one superstep", () => {
  const sound = ["h", "a", "x-result", "y-result", "z-result"];

  test.each<[string, unknown[], string[]]>([
    ["results are put in call order", [[result("z")], [result("x")], [result("y")]], sound],
    [
      "a list replaced by one call keeps the results of its siblings",
      [[result("x")], new Overwrite([...turn, result("y")]), [result("z")]],
      sound,
    ],
    [
      "a list replaced by two calls keeps the results of both",
      [new Overwrite([...turn, result("x")]), new Overwrite([...turn, result("y")]), [result("z")]],
      sound,
    ],
    [
      "a list removed and given again keeps them too",
      [[result("x")], [result("y"), all, ...turn], [result("z")]],
      sound,
    ],
    [
      "a list replaced without the turn has no place for its results",
      [[result("x")], new Overwrite([human("n")]), [all, human("m")]],
      ["m"],
    ],
    ["a plain object with an overwrite counts as one", [{ __overwrite__: [human("n")] }], ["n"]],
    [
      "what comes after a replaced list is added to it",
      [new Overwrite([human("n")]), [human("m")]],
      ["n", "m"],
    ],
    ["no write changes nothing", [], ["h", "a"]],
  ])("%s", (_, writes, ids) => {
    expect(after(turn, ...writes)).toEqual(ids);
  });

  test("an empty channel holds an empty list", () => {
    expect(new MessagesChannel().fromCheckpoint().get()).toEqual([]);
  });
});

describe("what savers are told by the channel", () => {
  test("a list from storage is taken in once", () => {
    const stored = [human("a"), human("b")];
    const channel = new MessagesChannel().fromCheckpoint(stored);
    expect(isMadeByLoop(stored)).toBe(true);
    const stamps = stored.map((message) => stampOf(message));
    expect(stamps).toEqual([expect.any(Number), expect.any(Number)]);
    channel.fromCheckpoint(channel.checkpoint());
    expect(stored.map((message) => stampOf(message))).toEqual(stamps);
  });

  test("an overwrite with the messages of the channel is a new list of messages that came back", () => {
    const channel = new MessagesChannel();
    channel.update([[human("a"), human("b")]]);
    const before = channel.get() as BaseMessage[];
    const returns = returnCount();
    channel.update([new Overwrite(before)]);
    expect(channel.get()).not.toBe(before);
    expect(channel.get()).toEqual(before);
    expect(isMadeByLoop(channel.get() as object)).toBe(true);
    expect(returnCount()).toBe(returns + 2);
  });
});
