/** Aborts and interrupts that reach into children. */
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, anyTool, asked, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";
import type { SubAgent } from "./spec.ts";

const T = { configurable: { thread_id: "t" } };
const nested = (name: string, inner: readonly SubAgent[] = [], more: Partial<SubAgent> = {}): SubAgent => ({
  name,
  description: `The agent ${name}.`,
  ...(inner.length > 0 && {
    middleware: [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: inner })],
  }),
  ...more,
});

describe("an abort", () => {
  test("PAINS 24: reaches a model and a tool three levels down, and nothing is written afterwards", async () => {
    const stop = new AbortController();
    const ended: string[] = [];
    const started = { tool: false, model: false };
    const tryStop = (): void => {
      if (started.tool && started.model) setTimeout(() => stop.abort(), 10);
    };
    const slow = anyTool("slow", (_, { signal }) => {
      started.tool = true;
      tryStop();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ended.push("tool");
          reject(signal.reason);
        });
      });
    });
    const model = troupe({
      Go: acts(tasks(taskCall("One.", "one")), say("done")),
      One: acts(tasks(taskCall("Two.", "two")), say("done")),
      Two: acts(tasks(taskCall("Tool.", "three"), taskCall("Model.", "three")), say("done")),
      Tool: acts(callTool("slow"), say("done")),
      Model: ({ signal }) => {
        started.model = true;
        signal?.addEventListener("abort", () => ended.push("model"));
        tryStop();
        return { never: true };
      },
    });
    const saver = new MemorySaver();
    const agent = createDeepAgent({
      model,
      tools: [slow],
      checkpointer: saver,
      subagents: [nested("one", [nested("two", [nested("three")])])],
    });
    await expect(agent.invoke(asked("Go."), { ...T, signal: stop.signal })).rejects.toThrow(/abort/i);
    expect(ended.sort()).toEqual(["model", "tool"]);
    const stored = JSON.stringify(Object.keys(saver.storage.t ?? {}));
    const count = () => Object.values(saver.storage.t ?? {}).map((byId) => Object.keys(byId).length);
    const left = count();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(count()).toEqual(left);
    expect(JSON.stringify(Object.keys(saver.storage.t ?? {}))).toBe(stored);
  });

  test("a signal that is aborted already starts no child", async () => {
    const model = troupe({ Go: acts(tasks(taskCall("One.")), say("done")), One: acts(say("x")) });
    const agent = createDeepAgent({ model });
    await expect(agent.invoke(asked("Go."), { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(model.callCount).toBe(0);
  });
});

describe("a child that waits for a person", () => {
  test("is asked about at the top; the answer goes on where it stopped, and what is done is not done again", async () => {
    const ran: string[] = [];
    const step = anyTool("step", ({ name }) => {
      ran.push(name);
      return "ok";
    });
    const confirm = anyTool("confirm", () => `said ${interrupt("Sure?")}`);
    const model = troupe({
      Go: acts(tasks(taskCall("One.", "one"), taskCall("Other.", "one")), say("done")),
      One: acts(tasks(taskCall("Two.", "two")), say("one done")),
      Other: acts(callTool("step", { name: "other" }), say("other done")),
      Two: acts(callTool("step", { name: "before" }), callTool("confirm"), say("two done")),
    });
    const agent = createDeepAgent({
      model,
      tools: [step, confirm],
      checkpointer: new MemorySaver(),
      subagents: [nested("one", [nested("two")])],
    });
    const stopped = await agent.invoke(asked("Go."), T);
    expect(stopped.__interrupt__).toMatchObject([{ value: "Sure?" }]);
    const state = await agent.invoke(new Command({ resume: "yes" }), T);
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["one done", "other done"]);
    expect(ran.sort()).toEqual(["before", "other"]);
  });

  test("interruptOn is inherited, and a subagent's own decides for the tools it names", async () => {
    const ran: string[] = [];
    const act = (name: string) => anyTool(name, () => `${ran.push(name)}`);
    const model = troupe({
      Go: acts(tasks(taskCall("Plain.", "plain"), taskCall("Own.", "own")), say("done")),
      Plain: acts(callTool("first"), say("plain done")),
      Own: acts({ toolCalls: [{ name: "first" }, { name: "second" }] }, say("own done")),
    });
    const agent = createDeepAgent({
      model,
      tools: [act("first"), act("second")],
      interruptOn: { first: true },
      checkpointer: new MemorySaver(),
      subagents: [nested("plain"), nested("own", [], { interruptOn: { first: false, second: true } })],
    });
    const stopped = await agent.invoke(asked("Go."), T);
    const requests = (stopped.__interrupt__ ?? []).flatMap(({ value }) => (value as any).actionRequests);
    expect(requests.map(({ name }: { name: string }) => name).sort()).toEqual(["first", "second"]);
    const answers = Object.fromEntries(
      (stopped.__interrupt__ ?? []).map(({ id }) => [id, { decisions: [{ type: "approve" }] }]),
    );
    const state = await agent.invoke(new Command({ resume: answers }), T);
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["plain done", "own done"]);
    expect(ran.sort()).toEqual(["first", "first", "second"]);
  });
});

test("a run that died in a child goes on from the child's own checkpoint", async () => {
  const ran: string[] = [];
  let dies = true;
  const step = anyTool("step", ({ name }) => {
    ran.push(name);
    return "ok";
  });
  const stop = new AbortController();
  const die = anyTool("die", () => {
    if (!dies) return "ok";
    dies = false;
    stop.abort();
    return new Promise(() => {});
  });
  const model = troupe({
    Go: acts(tasks(taskCall("Work."), taskCall("Rest.")), say("done")),
    Work: acts(
      callTool("step", { name: "one" }),
      callTool("die"),
      callTool("step", { name: "two" }),
      say("worked"),
    ),
    Rest: acts(callTool("step", { name: "rest" }), say("rested")),
  });
  const agent = createDeepAgent({ model, tools: [step, die], checkpointer: new MemorySaver() });
  await expect(
    agent.invoke(asked("Go."), { ...T, signal: stop.signal, durability: "sync" }),
  ).rejects.toThrow();
  const state = await agent.invoke(null, T);
  expect(resultsOf(state).map(({ text }) => text)).toEqual(["worked", "rested"]);
  expect(ran.filter((name) => name === "one")).toHaveLength(1);
});
