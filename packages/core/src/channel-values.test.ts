import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { createDeepAgent } from "./agent.ts";
import {
  cameIn,
  forSavers,
  fromSavers,
  isForSavers,
  isMadeByLoop,
  madeByLoop,
  onTheSide,
  returnCount,
  stampOf,
} from "./channel-values.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

test("a value that comes in again gets a new stamp and is counted as returned", () => {
  const value = {};
  const returns = returnCount();
  expect(stampOf(value)).toBeUndefined();
  cameIn(value);
  const stamp = stampOf(value);
  expect([typeof stamp, returnCount()]).toEqual(["number", returns]);
  cameIn(value);
  expect(stampOf(value)).not.toBe(stamp);
  expect(returnCount()).toBe(returns + 1);
});

test("what is no object is not noted", () => {
  const returns = returnCount();
  for (const value of [undefined, null, "text", 1]) cameIn(value);
  expect(returnCount()).toBe(returns);
});

test("nothing is noted on the side, also when it fails", () => {
  const value = {};
  expect(() =>
    onTheSide(() => {
      cameIn(value);
      madeByLoop(value);
      throw new Error("no");
    }),
  ).toThrow("no");
  expect([stampOf(value), isMadeByLoop(value)]).toEqual([undefined, false]);
  madeByLoop(value);
  expect(isMadeByLoop(value)).toBe(true);
});

/** Notes what of the values it is given was made for savers. */
class WatchingSaver extends MemorySaver {
  readonly seen: { messages: boolean; files: boolean; stamped: boolean }[] = [];

  override put(...given: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
    const { messages, files } = given[1].channel_values as { messages?: object[]; files?: object };
    if (messages && messages.length > 0)
      this.seen.push({
        messages: isForSavers(messages),
        files: files === undefined || Object.keys(files).length === 0 || isForSavers(files),
        stamped: [...messages, ...Object.values(files ?? {})].every((value) => stampOf(value) !== undefined),
      });
    return super.put(...given);
  }
}

test("every list and record a saver gets from an agent was made for savers, and nothing returns in a run", async () => {
  const checkpointer = new WatchingSaver();
  const noting = createMiddleware({
    name: "noting",
    beforeModel: () => ({ messages: [new HumanMessage("noted")] }),
  });
  const write = callTool("write_file", { file_path: "/a.txt", content: "a" });
  const agent = createDeepAgent({
    model: scriptedModel([write, say("done"), say("again")]),
    checkpointer,
    middleware: [noting],
  });
  const thread = { configurable: { thread_id: "t" } };
  const returns = returnCount();
  await agent.invoke({ messages: "Go." }, thread);
  await agent.invoke({ messages: "And on." }, thread);
  expect(checkpointer.seen.length).toBeGreaterThan(4);
  for (const seen of checkpointer.seen) expect(seen).toEqual({ messages: true, files: true, stamped: true });
  expect(returnCount()).toBe(returns);
});

test("what an agent hands out is not what its savers trust", async () => {
  const write = callTool("write_file", { file_path: "/a.txt", content: "a" });
  const agent = createDeepAgent({
    model: scriptedModel([write, say("done")]),
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "t" } };
  const result = await agent.invoke({ messages: "Go." }, thread);
  const { values } = await agent.getState(thread);
  for (const { messages, files } of [result, values])
    expect([isForSavers(messages), isForSavers(files)]).toEqual([false, false]);
});

test("a channel that is made of what it gave to savers holds the same list again", () => {
  const list = [{}];
  const copy = forSavers(list);
  expect([copy === list, forSavers(list) === copy, fromSavers(copy) === list]).toEqual([false, true, true]);
  list.push({});
  expect(forSavers(list)).toEqual(list);
  expect([forSavers(7), fromSavers(undefined)]).toEqual([7, undefined]);
});
