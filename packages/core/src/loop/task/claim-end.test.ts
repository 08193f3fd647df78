/** When a claimed thread is free again. */
import { Command } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { callTool, fault, type Script, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, lastText, onThread } from "../fixtures/agents.ts";
import { claiming, echo, textOf } from "../fixtures/claiming-agent.ts";
import type { MemoryClaimingSaver } from "../fixtures/claiming-saver.ts";
import type { AgentGraph } from "../graph/agent-graph.ts";

const T = onThread("t");

const stop = new AbortController();

/** Ways for a run to end. */
const endings: [string, (agent: AgentGraph) => Promise<unknown>, Script][] = [
  ["a normal end", (agent) => agent.invoke(ask(), T), echo],
  ["an error of the model", (agent) => agent.invoke(ask(), T).catch(() => {}), [fault.status(500)]],
  ["an input that is refused", (agent) => agent.invoke("text" as never, T).catch(() => {}), echo],
  ["an answer to nothing", (agent) => agent.invoke(new Command({ resume: "yes" }), T).catch(() => {}), echo],
  ["an interrupt", (agent) => agent.invoke(ask(), T), [callTool("gated")]],
  [
    "an abort",
    (agent) => agent.invoke(ask(), { ...T, signal: stop.signal }).catch(() => {}),
    () => {
      setTimeout(() => stop.abort(), 20);
      return fault.never();
    },
  ],
  [
    "a stream that was read",
    async (agent) => {
      for await (const _ of await agent.stream(ask(), T));
    },
    echo,
  ],
  [
    "a stream that was left",
    async (agent) => {
      for await (const _ of await agent.stream(ask(), { ...T, streamMode: "values" })) break;
    },
    [fault.never()],
  ],
  [
    "a stream that was cancelled before it was read",
    async (agent) => (await agent.stream(ask(), { ...T, streamMode: "values" })).cancel(),
    [fault.never()],
  ],
  [
    "events that were read",
    async (agent) => {
      for await (const _ of agent.streamEvents(ask(), { ...T, version: "v2" }));
    },
    echo,
  ],
  [
    "events that were left",
    async (agent) => {
      for await (const { event } of agent.streamEvents(ask(), { ...T, version: "v2" }))
        if (event === "on_chat_model_start") break;
    },
    [fault.never()],
  ],
  ["an update", (agent) => agent.updateState(T, ask()), echo],
  ["an update that is refused", (agent) => agent.updateState(T, ask(), "nowhere").catch(() => {}), echo],
];

describe("the thread is free again when the caller is told of", () => {
  test.each(endings)("%s", async (_, run, script) => {
    const gatedTool = anyTool("gated", () => "never runs");
    const { agent, saver } = claiming(script, { tools: [gatedTool], interruptOn: { gated: true } });
    saver.delay = 25;
    await run(agent);
    expect([saver.given, saver.isClaimed("t")]).toEqual([1, false]);
  });
});

describe("the thread is free some time after", () => {
  const free = async (saver: MemoryClaimingSaver): Promise<void> => {
    await eventually(() => expect([saver.given, saver.isClaimed("t")]).toEqual([1, false]));
  };

  test("a stream that nobody reads: its run goes on to the end", async () => {
    const { agent, saver } = claiming(
      [callTool("count"), callTool("count"), callTool("count"), say("done")],
      {
        tools: [anyTool("count", () => "1")],
      },
    );
    await agent.stream(ask(), { ...T, streamMode: ["values", "updates", "tasks"] });
    await free(saver);
    expect(lastText((await agent.getState(T)).values as AgentState)).toBe("done");
  });

  test("events of version v3, read or aborted", async () => {
    const { agent, saver } = claiming(echo);
    const run = await agent.streamEvents(ask(), { ...T, version: "v3" });
    for await (const _ of run);
    await free(saver);
    const stuck = claiming([fault.never()]);
    const aborted = await stuck.agent.streamEvents(ask(), { ...T, version: "v3" });
    await eventually(() => expect(stuck.saver.isClaimed("t")).toBe(true));
    aborted.abort("enough");
    await free(stuck.saver);
  });
});

test.each(["sync", "async", "exit"] as const)(
  "what a run wrote is stored when the next begins (%s)",
  async (durability) => {
    const { agent, saver } = claiming(echo, {}, "refuse");
    saver.delay = 10;
    const options = { ...T, durability };
    for (const text of ["a", "b", "c"]) await agent.invoke(ask(text), options as never);
    const { values } = await agent.getState(T);
    expect(textOf(values)).toEqual(["a", "re: a", "b", "re: b", "c", "re: c"]);
  },
);
