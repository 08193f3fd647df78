/** Budgets over a tree of agents: in tools, in subagents, at once, and across interrupts. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { anyTool, ask, onThread } from "../loop/fixtures/agents.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import type { RunUsage } from "../loop/messages/run-usage.ts";
import {
  callTool,
  type ScriptedModel,
  type ScriptedRequest,
  say,
  scriptedModel,
  type Turn,
} from "../testing/index.ts";
import { asTurn } from "../testing/turn.ts";

const T = onThread("t");
const USAGE = { input_tokens: 80, output_tokens: 20, total_tokens: 100 };

function using(turn: Turn): Turn {
  return turn instanceof Error ? turn : { ...asTurn(turn), usage: USAGE };
}

function model(script: readonly Turn[]): ScriptedModel {
  return scriptedModel(script.map(using));
}

type Agent = {
  invoke(input: unknown, config?: unknown): Promise<any>;
  getState(config: unknown): Promise<any>;
};

function agentOf(options: CreateDeepAgentParams<any>): Agent {
  return createDeepAgent({ systemPrompt: { base: "" }, ...options }) as never;
}

const noop = anyTool("noop", () => "done");

/** `count` calls of a tool, then an answer: one model call more than that. */
const work = (count: number): Turn[] => [
  ...Array.from({ length: count }, (_, i) => callTool("noop", { i })),
  say("child done"),
];

/** A tool that runs an agent, and the outcomes these runs had. */
function delegating(child: () => Agent, withConfig = true) {
  const outcomes: Outcome[] = [];
  const delegate = anyTool("delegate", async (_, config) => {
    const state = await child().invoke(ask(), withConfig ? config : undefined);
    outcomes.push(state.outcome);
    return state.messages.at(-1).text || "nothing";
  });
  return { delegate, outcomes };
}

test.each([
  ["with the config of the tool", true],
  ["without it", false],
])("an agent in a tool counts towards the budget of the run around it: called %s", async (_, withConfig) => {
  const child = agentOf({ model: model(work(2)), tools: [noop] });
  const { delegate } = delegating(() => child, withConfig);
  const parent = agentOf({ model: model([callTool("delegate"), say("ok")]), tools: [delegate], budget: {} });
  const { outcome } = await parent.invoke(ask());
  expect(outcome.usage).toMatchObject({ calls: 5, tokens: 500 });
});

test("the limit of the tree ends a child with what it did, and then the parent", async () => {
  const childModel = model(work(9));
  const child = agentOf({ model: childModel, tools: [noop] });
  const { delegate, outcomes } = delegating(() => child);
  const parentModel = model([callTool("delegate"), say("never")]);
  const parent = agentOf({ model: parentModel, tools: [delegate], budget: { maxSteps: 4 } });
  const { outcome, messages } = await parent.invoke(ask());
  expect(outcomes).toMatchObject([{ kind: "budget", used: 4, allowed: 4 }]);
  expect(outcomes[0]).not.toHaveProperty("usage");
  expect(outcome).toMatchObject({ kind: "budget", agentPath: [], used: 4, allowed: 4 });
  expect([parentModel.callCount, childModel.callCount]).toEqual([1, 3]);
  expect(messages.at(-1).text).toBe("done");
});

test("a child with a budget of its own ends alone", async () => {
  const child = agentOf({ model: model(work(9)), tools: [noop], budget: { maxSteps: 2 } });
  const { delegate, outcomes } = delegating(() => child);
  const parent = agentOf({
    ...{ model: model([callTool("delegate"), say("ok")]), tools: [delegate] },
    budget: { maxSteps: 10 },
  });
  const { outcome } = await parent.invoke(ask());
  expect(outcomes).toMatchObject([{ kind: "budget", allowed: 2, usage: { calls: 2 } }]);
  expect(outcome).toMatchObject({ kind: "done", usage: { calls: 4, tokens: 400 } });
});

test("subagents are told apart by their path, and all of it adds up", async () => {
  const child = { description: "Works.", systemPrompt: "Work.", tools: [noop] };
  const parent = agentOf({
    model: model([
      {
        toolCalls: [
          { name: "task", args: { description: "Go.", subagent_type: "one" } },
          { name: "task", args: { description: "Go.", subagent_type: "two" } },
        ],
      },
      say("ok"),
    ]),
    subagents: [
      { ...child, name: "one", model: model(work(1)) as never },
      { ...child, name: "two", model: model(work(4)) as never },
    ],
    budget: { maxSteps: 20 },
  });
  const { outcome } = await parent.invoke(ask());
  const { agents, calls, tokens } = outcome.usage as RunUsage;
  const byPath = Object.fromEntries(agents.map((one) => [one.agentPath.join("/"), one.calls]));
  expect(byPath).toEqual({ "": 2, one: 2, two: 5 });
  expect([calls, tokens]).toEqual([9, 900]);
});

test("a subagent at the limit hands its work and the reason to its parent, which ends as well", async () => {
  const parent = agentOf({
    model: model([callTool("task", { description: "Go.", subagent_type: "one" }), say("never")]),
    subagents: [
      {
        ...{ name: "one", description: "Works.", systemPrompt: "Work.", tools: [noop] },
        model: model(work(9)) as never,
      },
    ],
    budget: { maxSteps: 3 },
  });
  const { outcome, messages } = await parent.invoke(ask());
  expect(messages.at(-1).text).toMatch(/budget of 3 model calls is used up/);
  expect(outcome).toMatchObject({ kind: "budget", agentPath: [], used: 3, allowed: 3 });
});

test("a limit for each agent counts its own calls alone, also across an approval; subagents have it, too, or their own", async () => {
  const own = [1, 2].map(() => callTool("task", { description: "Go.", subagent_type: "one" }));
  const stuck = model([...own, callTool("task", { description: "Go.", subagent_type: "two" }), ...work(9)]);
  const child = { description: "Works.", systemPrompt: "Work.", tools: [noop] };
  const [one, two] = [model([...work(3), ...work(1)]), model(work(9))];
  const parent = agentOf({
    model: stuck,
    tools: [noop],
    subagents: [
      { ...child, name: "one", model: one as never },
      { ...child, name: "two", model: two as never, budget: { maxStepsPerAgent: 2 } },
    ],
    interruptOn: { task: true },
    checkpointer: new MemorySaver(),
    budget: { maxStepsPerAgent: 4 },
  });
  let { outcome, messages, ...rest } = await parent.invoke(ask(), T);
  while (rest.__interrupt__) {
    const approve = new Command({ resume: { decisions: [{ type: "approve" }] } });
    ({ outcome, messages, ...rest } = await parent.invoke(approve, T));
  }
  expect([stuck, one, two].map(({ callCount }) => callCount)).toEqual([4, 6, 2]);
  expect(outcome).toMatchObject({ kind: "budget", used: 4, allowed: 4, usage: { calls: 12 } });
  expect(JSON.stringify(messages)).toContain("The budget of 'two' of 2 model calls is used up");
  // A new message begins a new count.
  ({ outcome } = await parent.invoke(ask(), T));
  expect([stuck.callCount, outcome.kind]).toEqual([8, "budget"]);
});

/** As many turns as a run of tools has, then an answer; no two requests at once see the same turn. */
function bySteps(count: number) {
  return ({ messages }: ScriptedRequest): Turn => {
    const done = messages.filter(({ type }) => type === "tool").length;
    return using(done < count ? callTool("noop", { done }) : say("child done"));
  };
}

test("many children at once make no more calls than the budget allows", async () => {
  const childModel = scriptedModel(bySteps(5), { latency: 2 });
  const child = agentOf({ model: childModel, tools: [noop] });
  const { delegate, outcomes } = delegating(() => child);
  const calls = { toolCalls: Array.from({ length: 16 }, () => ({ name: "delegate" })) };
  const parent = agentOf({
    model: model([calls, say("never")]),
    tools: [delegate],
    budget: { maxSteps: 30 },
  });
  const { outcome } = await parent.invoke(ask());
  expect(outcome).toMatchObject({ kind: "budget", used: 30, allowed: 30, usage: { calls: 30 } });
  expect(childModel.callCount).toBe(29);
  expect(outcomes).toHaveLength(16);
});

test("many children at once use no more tokens than the budget and one call each", async () => {
  const childModel = scriptedModel(bySteps(8), { latency: 1 });
  const child = agentOf({ model: childModel, tools: [noop] });
  const { delegate } = delegating(() => child);
  const calls = { toolCalls: Array.from({ length: 8 }, () => ({ name: "delegate" })) };
  const budget = { maxTokens: 6000 };
  const parent = agentOf({ model: model([calls, say("never")]), tools: [delegate], budget });
  const { outcome } = await parent.invoke(ask());
  expect(outcome.usage.tokens).toBe(outcome.usage.calls * 100);
  expect(outcome.usage.tokens).toBeLessThanOrEqual(6000 + 100);
});

test("calls of graphs and tools that know nothing of budgets are counted, each once", async () => {
  const checkpointer = new MemorySaver();
  const stock = createAgent({ model: model([callTool("noop"), say("from elsewhere")]), tools: [noop] });
  const plain = model([say("plain")]);
  const asks = anyTool("asks", async (_, config) => (await plain.invoke("Hello", config)).text);
  const selects = createMiddleware({
    name: "selects",
    wrapModelCall: async (request, handler) => {
      await helper.invoke("Which?");
      return handler(request);
    },
  });
  const helper = scriptedModel(() => using(say("that")));
  const inner = agentOf({ model: model([callTool("asks"), say("inner done")]), tools: [asks] });
  const { delegate } = delegating(() => inner);
  const parent = agentOf({
    model: model([
      callTool("task", { description: "Go.", subagent_type: "stock" }),
      callTool("delegate"),
      say("ok"),
    ]),
    tools: [delegate],
    subagents: [{ name: "stock", description: "Another.", runnable: stock as never }],
    middleware: [selects],
    checkpointer,
    budget: {},
  });
  const { outcome } = await parent.invoke(ask(), T);
  // Three of the parent, each with one of the helper; two of the stock agent; two of the inner one, and its tool's.
  expect(outcome.usage).toMatchObject({ calls: 11, tokens: 1100, estimatedCalls: 0 });
  const { values } = await parent.getState(T);
  const stored = Object.values(values._budget.agents) as { calls: number }[];
  expect(stored.reduce((sum, { calls }) => sum + calls, 0)).toBe(11);
});

test("a model without a price is refused also where a tool asks it: the run does not go on", async () => {
  const plain = scriptedModel([using(say("plain"))], { modelName: "secret" });
  const asks = anyTool("asks", async (_, config) => (await plain.invoke("Hello", config)).text);
  const budget = { maxCost: 100, prices: { scripted: { input: 1, output: 1 } } };
  const parent = agentOf({ model: model([callTool("asks"), say("never")]), tools: [asks], budget });
  await expect(parent.invoke(ask())).rejects.toMatchObject({
    code: "PRICE_UNKNOWN",
    message: expect.stringContaining("'secret'"),
  });
});

/** A parent whose child asks a person in the middle of its work. */
function asking(checkpointer: MemorySaver, budget: object) {
  const childModel = model([callTool("noop"), callTool("noop"), say("child done")]);
  const parentModel = model([callTool("delegate"), say("ok")]);
  const build = () => {
    const child = agentOf({ model: childModel, tools: [noop], interruptOn: { noop: true } });
    const { delegate } = delegating(() => child);
    return agentOf({ model: parentModel, tools: [delegate], checkpointer, budget });
  };
  return { build, parentModel, childModel };
}

test("what a child used before it asked a person counts once when it goes on, in a new process too", async () => {
  const { build } = asking(new MemorySaver(), {});
  const approve = () => new Command({ resume: { decisions: [{ type: "approve" }] } });
  const first = await build().invoke(ask(), T);
  expect(first.__interrupt__).toHaveLength(1);
  await build().invoke(approve(), T);
  const agent = build();
  const { outcome } = await agent.invoke(approve(), T);
  expect(outcome).toMatchObject({ kind: "done", usage: { calls: 5, tokens: 500 } });
  const { values } = await agent.getState(T);
  const stored = Object.values(values._budget.agents) as { tokens: number }[];
  expect(stored.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(500);
});

test("a child that goes on is held to what the tree had used before", async () => {
  const { build, childModel } = asking(new MemorySaver(), { maxSteps: 3 });
  const approve = () => new Command({ resume: { decisions: [{ type: "approve" }] } });
  await build().invoke(ask(), T);
  await build().invoke(approve(), T);
  const { outcome } = await build().invoke(approve(), T);
  expect(outcome).toMatchObject({ kind: "budget", used: 3, allowed: 3 });
  expect(childModel.callCount).toBe(2);
});
