import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import { anyTool, ask, onThread } from "../loop/fixtures/agents.ts";
import {
  callTool,
  firstDifference,
  type RecordedCall,
  type Script,
  say,
  scriptedModel,
} from "../testing/index.ts";
import { createLoopDetectionMiddleware } from "./loop-detection.ts";

const T = onThread("t");
const same = anyTool("same", () => "as ever");
const other = anyTool("other", () => "as ever, too");

function agentOf(script: Script, options: CreateDeepAgentParams<any> = {}) {
  const model = scriptedModel(script, { check: { ids: true } });
  const agent = createDeepAgent({ model, tools: [same, other], ...options } as CreateDeepAgentParams);
  return { agent: agent as ReturnType<typeof createDeepAgent>, model };
}

const isReported = ({ messages }: RecordedCall): boolean =>
  messages.some(({ text }) => text.includes("going round in circles"));

describe("R-31", () => {
  test("the model is told after five identical calls, and the run ends after ten", async () => {
    const { agent, model } = agentOf(() => callTool("same"));
    const { outcome, messages } = await agent.invoke(ask());
    expect(model.calls.map(isReported)).toEqual([...Array(5).fill(false), ...Array(5).fill(true)]);
    expect(outcome).toEqual({
      kind: "loop",
      detail:
        "The agent was going round in circles: the same call (same) was made 10 times in a row, with the same result each time.",
      agentPath: [],
      used: 10,
      allowed: 10,
    });
    expect(messages).toHaveLength(21);
  });

  test("two calls in turn are a circle: told after three rounds, ended after six", async () => {
    const { agent, model } = agentOf(({ turn }) => callTool(turn % 2 ? "other" : "same"));
    const { outcome } = await agent.invoke(ask());
    expect(model.calls.findIndex(isReported)).toBe(6);
    expect(outcome).toMatchObject({ kind: "loop", used: 6, allowed: 6 });
    expect(outcome.detail).toContain("the same 2 steps (same, other) were taken 6 times");
    expect(model.callCount).toBe(12);
  });

  test("the same reply again and again, sent back by a hook, is a circle", async () => {
    const goOn = createMiddleware({
      name: "goOn",
      afterModel: { hook: () => ({ jumpTo: "model" as const }), canJumpTo: ["model"] },
    });
    const { agent, model } = agentOf(() => say("I am done."), { middleware: [goOn] });
    const { outcome } = await agent.invoke(ask());
    expect(outcome).toMatchObject({ kind: "loop", used: 10 });
    expect(outcome.detail).toContain("the same reply was given 10 times");
    expect(model.callCount).toBe(10);
  });

  test("a model that listens goes on to the end", async () => {
    const { agent } = agentOf((request) => (isReported(request) ? say("I see.") : callTool("same")));
    const { outcome, messages } = await agent.invoke(ask());
    expect(outcome).toEqual({ kind: "done" });
    expect(messages.at(-1)?.text).toBe("I see.");
  });

  test("a stopped run can go on, and is stopped again only after as many rounds more", async () => {
    const { agent, model } = agentOf(({ turn }) => (turn < 15 ? callTool("same") : say("finished")), {
      checkpointer: new MemorySaver(),
    });
    expect((await agent.invoke(ask(), T)).outcome.kind).toBe("loop");
    expect(model.callCount).toBe(10);
    const { outcome, messages } = await agent.invoke({ messages: [] }, T);
    expect(outcome).toEqual({ kind: "done" });
    expect(messages.at(-1)?.text).toBe("finished");
  });

  test("what was done before a new message does not count", async () => {
    const script: Script = ({ turn }) => (turn % 5 === 4 ? say("There.") : callTool("same"));
    const { agent, model } = agentOf(script, { checkpointer: new MemorySaver() });
    for (const _ of [1, 2, 3, 4]) expect((await agent.invoke(ask(), T)).outcome.kind).toBe("done");
    expect(model.calls.some(isReported)).toBe(false);
  });
});

test("replies of a history that the caller hands in do not count", async () => {
  const { agent, model } = agentOf(() => say("Noted."));
  const history = Array.from({ length: 12 }, (_, index) => [
    { role: "user", content: `fact ${index}` },
    { role: "assistant", content: "Noted." },
  ]).flat();
  const { outcome, messages } = await agent.invoke({
    messages: [...history, { role: "user", content: "the last fact" }],
  });
  expect(outcome).toEqual({ kind: "done" });
  expect(model.callCount).toBe(1);
  expect(messages.at(-1)?.text).toBe("Noted.");
});

test("the notice stays where it was said: every request begins with the one before", async () => {
  const script: Script = ({ turn }) => (turn < 8 ? callTool("same") : say("finished"));
  const { agent, model } = agentOf(script);
  await agent.invoke(ask());
  const pairs = model.calls.slice(1).map((call, i) => firstDifference(model.calls[i] as RecordedCall, call));
  expect(model.calls.some(isReported)).toBe(true);
  expect(pairs).toEqual(pairs.map(() => undefined));
});

test("asking 40 times for something that changes, or 50 different things, is no circle", async () => {
  let percent = 0;
  const poll = anyTool("poll", () => `${percent++} %`);
  for (const step of [() => callTool("poll"), ({ turn }: { turn: number }) => callTool("same", { turn })]) {
    const { agent, model } = agentOf((request) => (request.turn < 50 ? step(request) : say("finished")), {
      tools: [poll, same],
    });
    expect((await agent.invoke(ask())).outcome).toEqual({ kind: "done" });
    expect(model.calls.some(isReported)).toBe(false);
  }
});

test("it can be turned off, and given other limits", async () => {
  const script: Script = ({ turn }) => (turn < 30 ? callTool("same") : say("finished"));
  const off = agentOf(script, { middleware: [{ LoopDetectionMiddleware: false }] });
  expect((await off.agent.invoke(ask())).outcome.kind).toBe("done");
  const strict = createLoopDetectionMiddleware({ noticeAfter: 2, stopAfter: 3 });
  const { agent, model } = agentOf(script, { middleware: [strict as never] });
  expect((await agent.invoke(ask())).outcome).toMatchObject({ kind: "loop", allowed: 3 });
  expect(model.callCount).toBe(3);
});

test.each<[object]>([
  [{ noticeAfter: 1 }],
  [{ noticeAfter: 5, stopAfter: 5 }],
  [{ stopAfter: 7.5 }],
  [{ after: 5 }],
])("%j is refused", (options) => {
  expect(() => createLoopDetectionMiddleware(options)).toThrow();
});

test("another loop is told that it does not work there", async () => {
  const agent = createAgent({
    model: scriptedModel([say("Hi")]),
    middleware: [createLoopDetectionMiddleware()],
  });
  await expect(agent.invoke(ask())).rejects.toThrow(/loop of createDeepAgent only/);
});
