import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { anyTool, ask, onThread, outline } from "../loop/fixtures/agents.ts";
import type { RunUsage } from "../loop/messages/run-usage.ts";
import { callTool, fault, type ScriptedModel, say, scriptedModel, type Turn } from "../testing/index.ts";
import { asTurn } from "../testing/turn.ts";
import { createSummarizationMiddleware } from "./summarization.ts";

const T = onThread("t");

/** Each reply has used so many tokens, whatever the request was. */
const USAGE = { input_tokens: 80, output_tokens: 20, total_tokens: 100 };

function using(turn: Turn, usage: object = USAGE): Turn {
  return turn instanceof Error ? turn : { ...asTurn(turn), usage: usage as typeof USAGE };
}

function model(script: readonly Turn[], options: object = {}): ScriptedModel {
  return scriptedModel(
    script.map((turn) => using(turn)),
    { check: { ids: true }, ...options },
  );
}

/** An agent with few words, so that what a test says of its requests is about all there is to them. */
function agentOf(options: CreateDeepAgentParams<any>): ReturnType<typeof createDeepAgent> {
  return createDeepAgent({ systemPrompt: { base: "" }, ...options }) as never;
}

const noop = anyTool("noop", () => "done");
const steps = (count: number): Turn[] => [
  ...Array.from({ length: count }, (_, i) => callTool("noop", { i })),
  say("finished"),
];

test("a run ends before the call its budget does not allow, with what was done so far", async () => {
  const scripted = model(steps(5));
  const agent = agentOf({ model: scripted, tools: [noop], budget: { maxSteps: 2 } });
  const { messages, outcome } = await agent.invoke(ask());
  expect(outline(messages)).toEqual(["human Go.", "ai → noop", "tool noop ok", "ai → noop", "tool noop ok"]);
  expect(outcome).toMatchObject({
    kind: "budget",
    detail: "The budget of 2 model calls is used up: 2 model calls used.",
    agentPath: [],
    used: 2,
    allowed: 2,
  });
  expect(scripted.callCount).toBe(2);
});

test("a run that stays within its budget is told what it used, as its provider reported it", async () => {
  const cached = {
    ...{ input_tokens: 1000, output_tokens: 200, total_tokens: 1200 },
    input_token_details: { cache_read: 700, cache_creation: 100 },
    output_token_details: { reasoning: 50 },
  };
  const scripted = scriptedModel([using(callTool("noop")), using(say("finished"), cached)]);
  const agent = agentOf({ model: scripted, tools: [noop], budget: {} });
  const { outcome } = await agent.invoke(ask());
  const own = {
    calls: 2,
    tokens: 1300,
    inputTokens: 1080,
    outputTokens: 220,
    cacheReadTokens: 700,
    cacheWriteTokens: 100,
    reasoningTokens: 50,
    cost: 0,
    unpricedCalls: 2,
    estimatedCalls: 0,
  };
  const { seconds, ...usage } = outcome.usage as RunUsage;
  expect(outcome.kind).toBe("done");
  expect(usage).toEqual({ ...own, agents: [{ agentPath: [], ...own, models: { scripted: own } }] });
  expect(seconds).toBeGreaterThan(0);
});

test("a provider that reports nothing is charged by estimate", async () => {
  const scripted = scriptedModel([say("word ".repeat(400))], { usage: false });
  const { outcome } = await agentOf({ model: scripted, budget: {} }).invoke(ask());
  expect(outcome.usage?.estimatedCalls).toBe(1);
  expect(outcome.usage?.outputTokens).toBeGreaterThan(200);
  expect(outcome.usage?.inputTokens).toBeGreaterThan(0);
});

test("without a budget nothing is counted or kept", async () => {
  const checkpointer = new MemorySaver();
  const agent = agentOf({ model: model(steps(2)), tools: [noop], checkpointer });
  const { outcome } = await agent.invoke(ask(), T);
  expect(outcome).toEqual({ kind: "done" });
  const { values } = await agent.getState(T);
  expect(values).not.toHaveProperty("_budget");
});

test("tokens are reserved before a call, by what its request has", async () => {
  const scripted = model([say("never")]);
  const agent = agentOf({ model: scripted, budget: { maxTokens: 500 } });
  const { outcome } = await agent.invoke(ask("word ".repeat(2000)));
  expect(outcome).toMatchObject({ kind: "budget", used: 0, allowed: 500 });
  expect(outcome.detail).toMatch(/budget of 500 tokens .* needs about [\d,]+ tokens/);
  expect(scripted.callCount).toBe(0);
});

test("cost is counted with the prices that were given", async () => {
  const prices = { scripted: { input: 1000, output: 10_000 } };
  const agent = agentOf({ model: model(steps(9)), tools: [noop], budget: { maxCost: 1.5, prices } });
  const { outcome } = await agent.invoke(ask());
  expect(outcome).toMatchObject({ kind: "budget", allowed: 1.5 });
  const { cost, calls } = outcome.usage as RunUsage;
  expect(cost).toBeCloseTo(calls * 0.28, 10);
  expect(cost).toBeLessThan(1.5);
  expect(calls).toBeGreaterThan(0);
});

test("a limit on cost refuses a model whose price is not known, by name", async () => {
  const agent = agentOf({ model: model([say("never")]), budget: { maxCost: 1 } });
  await expect(agent.invoke(ask())).rejects.toMatchObject({
    code: "PRICE_UNKNOWN",
    message: expect.stringMatching(/'scripted'.*prices/s),
  });
});

test("time is up after the tools of the turn, never in the middle of one", async () => {
  const slow = anyTool("slow", () => new Promise((resolve) => setTimeout(() => resolve("slept"), 550)));
  // A busy machine may need the time before the tool is called.
  await eventually(async () => {
    const scripted = model([callTool("slow"), say("never")]);
    const agent = agentOf({ model: scripted, tools: [slow], budget: { maxSeconds: 0.5 } });
    const { messages, outcome } = await agent.invoke(ask());
    expect(outline(messages)).toEqual(["human Go.", "ai → slow", "tool slow ok"]);
    expect(outcome).toMatchObject({ kind: "budget", allowed: 0.5 });
    expect(outcome.used).toBeGreaterThanOrEqual(0.5);
    expect(scripted.callCount).toBe(1);
  });
});

test("a stopped run goes on with a higher limit, from what it had used", async () => {
  const checkpointer = new MemorySaver();
  const scripted = model(steps(4));
  const agent = (maxSteps: number) =>
    agentOf({ model: scripted, tools: [noop], checkpointer, budget: { maxSteps } });
  await agent(2).invoke(ask(), T);
  const same = await agent(2).invoke({ messages: [] }, T);
  expect(same.outcome).toMatchObject({ kind: "budget", used: 2, allowed: 2 });
  expect(scripted.callCount).toBe(2);
  const more = await agent(5).invoke({ messages: [] }, T);
  expect(more.outcome).toMatchObject({ kind: "done", usage: { calls: 5, tokens: 500 } });
  expect(more.messages.at(-1)?.text).toBe("finished");
});

test("a new message begins a new count", async () => {
  const checkpointer = new MemorySaver();
  const agent = agentOf({
    model: model([...steps(1), ...steps(1)]),
    tools: [noop],
    checkpointer,
    budget: { maxSteps: 2 },
  });
  for (const _ of [1, 2]) {
    const { outcome } = await agent.invoke(ask(), T);
    expect(outcome).toMatchObject({ kind: "done", usage: { calls: 2 } });
  }
});

test("a run that waited for a person goes on counting, in another process too", async () => {
  const checkpointer = new MemorySaver();
  const scripted = model(steps(3));
  const agent = () =>
    agentOf({
      ...{ model: scripted, tools: [noop], checkpointer },
      ...{ interruptOn: { noop: true }, budget: { maxSteps: 2 } },
    });
  await agent().invoke(ask(), T);
  const approve = () => new Command({ resume: { decisions: [{ type: "approve" }] } });
  await agent().invoke(approve(), T);
  const { outcome } = await agent().invoke(approve(), T);
  expect(outcome).toMatchObject({ kind: "budget", used: 2, allowed: 2, usage: { tokens: 200 } });
});

test("an attempt that failed costs nothing, and the one that was answered counts", async () => {
  const scripted = model([fault.rateLimit({ retryAfter: 0.001 }), say("finished")]);
  const { outcome } = await agentOf({ model: scripted, budget: { maxSteps: 1 } }).invoke(ask());
  expect(scripted.callCount).toBe(2);
  expect(outcome).toMatchObject({ kind: "done", usage: { calls: 1, tokens: 100 } });
});

test("a middleware that swallows errors cannot go on past a budget", async () => {
  const swallow = createMiddleware({
    name: "swallow",
    wrapModelCall: async (request, handler) => {
      try {
        return await handler(request);
      } catch {
        return new AIMessage("all is well");
      }
    },
  });
  const agent = agentOf({
    ...{ model: model(steps(3)), tools: [noop] },
    ...{ middleware: [swallow], budget: { maxSteps: 1 } },
  });
  const { messages, outcome } = await agent.invoke(ask());
  expect(outcome.kind).toBe("budget");
  expect(messages.map(({ text }) => text)).not.toContain("all is well");
});

test("a middleware that asks twice pays twice", async () => {
  const twice = createMiddleware({
    name: "twice",
    wrapModelCall: async (request, handler) => {
      await handler(request);
      return handler(request);
    },
  });
  const checkpointer = new MemorySaver();
  const agent = agentOf({
    ...{ model: model([say("one"), say("two")]), checkpointer },
    ...{ middleware: [twice], budget: {} },
  });
  const { outcome } = await agent.invoke(ask(), T);
  expect(outcome.usage).toMatchObject({ calls: 2, tokens: 200 });
  const { values } = await agent.getState(T);
  expect(values._budget.agents["[]"]).toMatchObject({ calls: 2, tokens: 200 });
});

test("asking again for a structured answer counts", async () => {
  const agent = agentOf({
    model: scriptedModel(({ tools, turn }) => {
      const { name } = (tools.at(-1) as { function: { name: string } }).function;
      return using(callTool(name, { city: turn === 0 ? 5 : "Seoul" }));
    }),
    responseFormat: z.object({ city: z.string() }),
    budget: {},
  });
  const { outcome, structuredResponse } = (await agent.invoke(ask())) as any;
  expect(structuredResponse).toEqual({ city: "Seoul" });
  expect(outcome.usage).toMatchObject({ calls: 2, tokens: 200 });
});

test("summaries are charged to the run they are made for", async () => {
  const notes = model([say("NOTES"), say("NOTES")], { check: true });
  const agent = agentOf({
    model: model(steps(8)),
    tools: [noop],
    middleware: [
      createSummarizationMiddleware({ model: notes, trigger: { messages: 12 }, keep: { messages: 4 } }),
    ],
    budget: {},
  });
  const { outcome } = await agent.invoke(ask());
  expect(notes.callCount).toBeGreaterThan(0);
  expect(outcome.usage?.calls).toBe(9 + notes.callCount);
});

test.each<[string, object]>([
  ["turned off", { BudgetMiddleware: false }],
  ["replaced", createMiddleware({ name: "BudgetMiddleware" })],
])("a budget is refused where the middleware that keeps it is %s", (_, other) => {
  expect(() => createDeepAgent({ budget: { maxSteps: 1 }, middleware: [other as never] })).toThrow(
    /'budget' has no effect/,
  );
});

test("a budget that is none is refused at once", () => {
  expect(() => createDeepAgent({ budget: { maxSteps: -1 } })).toThrow(/maxSteps/);
  expect(() => createDeepAgent({ budget: null })).not.toThrow();
});

test("where the agent is told to stop, a summary that does not fit ends the run, too", async () => {
  const notes = model([say("NOTES")], { check: true });
  const agent = agentOf({
    model: model(steps(8)),
    tools: [noop],
    middleware: [
      createSummarizationMiddleware({ model: notes, trigger: { messages: 6 }, keep: { messages: 2 } }),
    ],
    budget: { maxSteps: 3 },
  });
  const { outcome, messages } = await agent.invoke(ask());
  expect(outcome).toMatchObject({ kind: "budget", used: 3 });
  expect(messages.filter((message: BaseMessage) => AIMessage.isInstance(message))).toHaveLength(3);
  expect(notes.callCount).toBe(0);
});

test("the budget of a single run lowers that of the agent, and never raises it", async () => {
  const calls = async (budget: object | undefined, run_budget: unknown) => {
    const agent = agentOf({ model: model(steps(9)), tools: [noop], ...(budget && { budget }) });
    const { outcome } = await agent.invoke(ask(), { configurable: { run_budget } });
    return outcome.usage?.calls;
  };
  expect(await calls(undefined, { maxSteps: 2 })).toBe(2);
  expect(await calls({ maxSteps: 4 }, { maxSteps: 2 })).toBe(2);
  expect(await calls({ maxSteps: 2 }, { maxSteps: 4 })).toBe(2);
  await expect(calls({}, { maxCost: 1, prices: {} })).rejects.toThrow("cannot state prices");
});
