/** LangChain's limit middlewares in our loop: what they stop, and what they leave behind. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, ReducedValue, StateSchema } from "@langchain/langgraph";
import { modelCallLimitMiddleware, ToolCallLimitExceededError, toolCallLimitMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });

function counter(name: string) {
  const runs: unknown[] = [];
  const counted = tool(
    (args: { n?: number | undefined }) => {
      runs.push(args.n);
      return `${name} ran`;
    },
    { name, description: `Counts as ${name}.`, schema: z.object({ n: z.number().optional() }) },
  );
  return Object.assign(counted, { runs });
}

const results = (messages: readonly unknown[]) =>
  messages.filter(ToolMessage.isInstance).map((message) => [message.text, message.status]);

describe("modelCallLimitMiddleware", () => {
  test("a run ends with a word of its own when its model calls are used up", async () => {
    const count = counter("count");
    const model = scriptedModel([callTool("count")], { loop: true });
    const agent = createDeepAgent({
      model,
      tools: [count],
      middleware: [modelCallLimitMiddleware({ runLimit: 2 })],
    });
    const result = await agent.invoke(ask());
    expect(model.callCount).toBe(2);
    expect(count.runs).toHaveLength(2);
    expect(result.messages.at(-1)?.text).toMatch(/run level call limit reached with 2 model calls/);
    expect(result.messages.at(-1)?.id).toBeTruthy();
    expect(result.outcome.kind).toBe("done");
  });

  test("the count of a run begins anew with the next one, the count of a thread does not", async () => {
    const model = scriptedModel([say("one"), say("two"), say("three")]);
    const agent = createDeepAgent({
      model,
      middleware: [modelCallLimitMiddleware({ runLimit: 1, threadLimit: 2 })],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "limits" } };
    expect((await agent.invoke(ask(), thread)).messages.at(-1)?.text).toBe("one");
    expect((await agent.invoke(ask(), thread)).messages.at(-1)?.text).toBe("two");
    const last = await agent.invoke(ask(), thread);
    expect(last.messages.at(-1)?.text).toMatch(/thread level call limit reached with 2 model calls/);
    expect(model.callCount).toBe(2);
    const other = await agent.invoke(ask(), { configurable: { thread_id: "other" } });
    expect(other.messages.at(-1)?.text).toBe("three");
  });

  test("exitBehavior error rejects the run", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("count")], { loop: true }),
      tools: [counter("count")],
      middleware: [modelCallLimitMiddleware({ runLimit: 1, exitBehavior: "error" })],
    });
    await expect(agent.invoke(ask())).rejects.toThrow(/run level call limit reached with 1 model calls/);
  });

  test("the limit may come with the caller's context", async () => {
    const model = scriptedModel([callTool("count")], { loop: true });
    const agent = createDeepAgent({
      model,
      tools: [counter("count")],
      middleware: [modelCallLimitMiddleware({ runLimit: 50 })],
    });
    await agent.invoke(ask(), { context: { runLimit: 3 } });
    expect(model.callCount).toBe(3);
  });

  test("its hook hands the whole state back, and reducers do not count that as news", async () => {
    const log = new ReducedValue(
      z.array(z.string()).default(() => []),
      { inputSchema: z.array(z.string()), reducer: (left: string[], right: string[]) => [...left, ...right] },
    );
    const sum = new ReducedValue(z.number().default(0), {
      inputSchema: z.number(),
      reducer: (left: number, right: number) => left + right,
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("count"), callTool("count"), say("done")]),
      tools: [counter("count")],
      stateSchema: new StateSchema({ log, sum }),
      middleware: [modelCallLimitMiddleware({ runLimit: 9 })],
    });
    const result = await agent.invoke({ ...ask(), log: ["given"], sum: 5 });
    expect(result.log).toEqual(["given"]);
    expect(result.sum).toBe(5);
    expect(result.messages).toHaveLength(6);
  });
});

describe("toolCallLimitMiddleware", () => {
  test("continue: the calls within the limit run, the others are answered, the model goes on", async () => {
    const count = counter("count");
    const model = scriptedModel([
      {
        toolCalls: [1, 2, 3].map((n) => ({ name: "count", args: { n }, id: `c${n}` })),
      },
      say("I stopped."),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [count],
      middleware: [toolCallLimitMiddleware({ runLimit: 2 })],
    });
    const result = await agent.invoke(ask());
    expect(count.runs).toEqual([1, 2]);
    expect(results(result.messages)).toEqual([
      ["count ran", "success"],
      ["count ran", "success"],
      ["Tool call limit exceeded. Do not make additional tool calls.", "error"],
    ]);
    expect(result.messages.at(-1)?.text).toBe("I stopped.");
  });

  test("continue: a turn that is over the limit as a whole goes straight back to the model", async () => {
    const count = counter("count");
    const other = counter("other");
    const model = scriptedModel([
      callTool("count", { n: 1 }),
      callTool("count", { n: 2 }),
      callTool("other", { n: 3 }),
      say("done"),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [count, other],
      middleware: [toolCallLimitMiddleware({ toolName: "count", runLimit: 1 })],
    });
    const result = await agent.invoke(ask());
    expect(count.runs).toEqual([1]);
    expect(other.runs).toEqual([3]);
    expect(results(result.messages)[1]).toEqual([
      "Tool call limit exceeded. Do not call 'count' again.",
      "error",
    ]);
    expect(model.callCount).toBe(4);
  });

  test("end: the run ends with a word of its own, and the thread can go on", async () => {
    const count = counter("count");
    const model = scriptedModel([
      callTool("count", { n: 1 }),
      { toolCalls: [{ name: "count", args: { n: 2 } }] },
      say("after"),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [count],
      middleware: [toolCallLimitMiddleware({ runLimit: 1, exitBehavior: "end" })],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    const result = await agent.invoke(ask(), thread);
    expect(result.messages.at(-1)?.text).toMatch(
      /Tool call limit reached: run limit exceeded \(2\/1 calls\)/,
    );
    expect(AIMessage.isInstance(result.messages.at(-1))).toBe(true);
    expect(count.runs).toEqual([1]);
    expect((await agent.invoke(ask("And now?"), thread)).messages.at(-1)?.text).toBe("after");
  });

  test("end: calls of the same turn that were within the limit are closed in the next run", async () => {
    const count = counter("count");
    const model = scriptedModel([
      { toolCalls: [1, 2].map((n) => ({ name: "count", args: { n }, id: `c${n}` })) },
      say("after"),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [count],
      middleware: [toolCallLimitMiddleware({ runLimit: 1, exitBehavior: "end" })],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask(), thread);
    const result = await agent.invoke(ask("And now?"), thread);
    expect(result.messages.at(-1)?.text).toBe("after");
    expect(results(result.messages)).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  test("error: the run rejects with LangChain's error", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("count")], { loop: true }),
      tools: [counter("count")],
      middleware: [toolCallLimitMiddleware({ runLimit: 1, exitBehavior: "error" })],
    });
    await expect(agent.invoke(ask())).rejects.toThrow(ToolCallLimitExceededError);
  });

  test("a limit of the thread holds across runs, a limit of the run does not", async () => {
    const count = counter("count");
    const model = scriptedModel(({ messages }) =>
      ToolMessage.isInstance(messages.at(-1)) ? say("ok") : callTool("count"),
    );
    const agent = createDeepAgent({
      model,
      tools: [count],
      middleware: [toolCallLimitMiddleware({ runLimit: 1, threadLimit: 2 })],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    for (let i = 0; i < 3; i += 1) await agent.invoke(ask(), thread);
    expect(count.runs).toHaveLength(2);
    const state = await agent.getState(thread);
    expect(results(state.values.messages).map(([, status]) => status)).toEqual([
      "success",
      "success",
      "error",
    ]);
  });
});
