import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { Overwrite, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
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
