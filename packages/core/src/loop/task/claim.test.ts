/** One run at a time per thread: what waits, and what is refused. */
import { ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { callTool, type Script, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, lastText, onThread } from "../fixtures/agents.ts";
import { claiming, echo, gated, textOf, wait } from "../fixtures/claiming-agent.ts";
import { MemoryClaimingSaver } from "../fixtures/claiming-saver.ts";
import { CLAIM_KEY } from "./claim.ts";

const PAIRS = sized(15, 50);
const T = onThread("t");

describe("two runs of one thread", () => {
  test(`queue: nothing of either is lost, over ${PAIRS} pairs`, async () => {
    const { agent, saver } = claiming(echo);
    saver.delay = 1;
    for (let i = 0; i < PAIRS; i += 1)
      await Promise.all([agent.invoke(ask(`a${i}`), T), agent.invoke(ask(`b${i}`), T)]);
    const { values } = await agent.getState(T);
    const pairs = Array.from({ length: PAIRS }, (_, i) => [`a${i}`, `re: a${i}`, `b${i}`, `re: b${i}`]);
    expect(textOf(values)).toEqual(pairs.flat());
    expect([saver.given, saver.isClaimed("t")]).toEqual([2 * PAIRS, false]);
  });

  test("queue: runs of a batch go one after the other", async () => {
    const { agent } = claiming(echo);
    const states = (await agent.batch([ask("a"), ask("b"), ask("c")], T)) as AgentState[];
    expect(states.map((state) => state.messages.length)).toEqual([2, 4, 6]);
  });

  test("refuse: the second is told that the thread is busy, and the first is not harmed", async () => {
    const { agent, open, begun } = gated({}, "refuse");
    const first = agent.invoke(ask(), T);
    await begun;
    for (const second of [agent.invoke(ask(), T), agent.stream(ask(), T), agent.updateState(T, ask())])
      await expect(second).rejects.toMatchObject({ code: "THREAD_BUSY" });
    open();
    expect(lastText((await first) as AgentState)).toBe("done");
    expect(lastText((await agent.invoke(ask(), T)) as AgentState)).toBe("done");
  });

  test("other threads are not blocked, and reading needs no claim", async () => {
    const { agent, open, begun } = gated({}, "refuse");
    const first = agent.invoke(ask(), T);
    await begun;
    expect((await agent.getState(T)).next).toEqual(["tools"]);
    const other = agent.invoke(ask(), onThread("other"));
    open();
    expect(lastText((await other) as AgentState)).toBe("done");
    await first;
  });

  test("an update waits for the run, and several steps of one are written under one claim", async () => {
    const { agent, saver, open, begun } = gated();
    const run = agent.invoke(ask(), T);
    await begun;
    const step = (text: string) => ({ updates: [{ values: ask(text), asNode: "tools" }] });
    const update = agent.bulkUpdateState(T, [step("one"), step("two")]);
    await until(() => saver.waitingFor("t") === 1);
    open();
    await run;
    expect(JSON.stringify(await update)).not.toContain(CLAIM_KEY);
    const { values } = await agent.getState(T);
    expect(textOf(values).slice(-3)).toEqual(["done", "one", "two"]);
    expect([saver.given, saver.isClaimed("t")]).toEqual([2, false]);
  });

  test("a run that waits can be stopped, and leaves the line", async () => {
    const { agent, saver, open, begun } = gated();
    const first = agent.invoke(ask(), T);
    await begun;
    const controller = new AbortController();
    const second = agent.invoke(ask(), { ...T, signal: controller.signal });
    const third = agent.invoke(ask(), { ...T, signal: controller.signal });
    await until(() => saver.waitingFor("t") === 2);
    controller.abort(new Error("never mind"));
    for (const run of [second, third]) await expect(run).rejects.toThrow("never mind");
    const late = agent.invoke(ask(), { ...T, timeout: 20 });
    await expect(late).rejects.toMatchObject({ name: "TimeoutError" });
    expect(saver.waitingFor("t")).toBe(0);
    open();
    await first;
    expect(saver.isClaimed("t")).toBe(false);
  });

  test("a part of a sequence that is streamed claims its thread, too", async () => {
    const { agent, saver } = claiming(echo);
    const chain = RunnableLambda.from((text: string) => ask(text)).pipe(agent as never);
    const chunks: unknown[] = [];
    for await (const chunk of await chain.stream("a", T)) chunks.push(chunk);
    expect(chunks).toHaveLength(1);
    expect([saver.given, saver.isClaimed("t")]).toEqual([1, false]);
  });
});

describe("the same approval sent twice at once", () => {
  const approve = () => new Command({ resume: { decisions: [{ type: "approve" }] } });

  test.each(["queue", "refuse"] as const)(
    "HI-01 R-10: has one effect, the other is refused (%s)",
    async (mode) => {
      let effects = 0;
      const send = anyTool("send", async () => {
        await wait(5);
        effects += 1;
        return "sent";
      });
      const script: Script = ({ messages }) =>
        ToolMessage.isInstance(messages.at(-1)) ? say("done") : callTool("send");
      const { agent } = claiming(script, { tools: [send], interruptOn: { send: true } }, mode);
      for (let round = 1; round <= 20; round += 1) {
        const thread = onThread(`t${round}`);
        const paused = (await agent.invoke(ask(), thread)) as AgentState;
        expect(paused.__interrupt__).toHaveLength(1);
        const results = await Promise.allSettled([
          agent.invoke(approve(), thread),
          agent.invoke(approve(), thread),
        ]);
        const [first, second] = results.sort((a, b) => a.status.localeCompare(b.status));
        expect(first).toMatchObject({ status: "fulfilled" });
        const code = mode === "queue" ? "NOTHING_TO_RESUME" : "THREAD_BUSY";
        expect(second).toMatchObject({ status: "rejected", reason: { code } });
        expect(effects).toBe(round);
      }
    },
  );
});

test("the claim is in no metadata and no JSON of a run", async () => {
  const { agent, saver } = claiming([callTool("look"), say("done")], {
    tools: [
      anyTool("look", (_, { config }) => JSON.stringify([config.metadata, config.configurable[CLAIM_KEY]])),
    ],
  });
  const chunks: unknown[] = [];
  for await (const chunk of await agent.stream(ask(), {
    ...T,
    streamMode: ["debug", "checkpoints", "tasks"],
  }))
    chunks.push(chunk);
  expect(JSON.stringify(chunks)).not.toContain(CLAIM_KEY);
  for await (const { metadata, config } of saver.list(T as never))
    expect(JSON.stringify([metadata, config])).not.toContain(CLAIM_KEY);
});

test("withConfig keeps the claim, and takes the thread from its config", async () => {
  const { agent, saver } = claiming(echo);
  await agent.withConfig(T).invoke(ask());
  expect([saver.given, saver.isClaimed("t")]).toEqual([1, false]);
});

test("a claim the caller holds is used and left to the caller", async () => {
  const { agent, saver } = claiming(echo, {}, "refuse");
  const claim = await saver.claimThread("t", { mode: "refuse" });
  await agent.invoke(ask(), onThread("t", { [CLAIM_KEY]: claim }));
  expect([saver.given, saver.isClaimed("t")]).toEqual([1, true]);
});

describe("the option threadClaim", () => {
  const checkpointer = new MemoryClaimingSaver();
  const mode = "queue" as const;

  test.each<[string, object, string]>([
    ["an unknown mode", { checkpointer, threadClaim: { mode: "maybe" } }, "INVALID_OPTION"],
    ["no mode", { checkpointer, threadClaim: {} }, "INVALID_OPTION"],
    ["a word", { checkpointer, threadClaim: "queue" }, "INVALID_OPTION"],
    ["an unknown key", { checkpointer, threadClaim: { mode, seconds: 1 } }, "INVALID_OPTION"],
    ["a time that is none", { checkpointer, threadClaim: { mode, ttl: 0 } }, "INVALID_OPTION"],
    ["no checkpointer", { threadClaim: { mode } }, "INVALID_OPTION"],
    ["a checkpointer turned off", { checkpointer: false, threadClaim: { mode } }, "INVALID_OPTION"],
    [
      "a checkpointer that cannot",
      { checkpointer: new MemorySaver(), threadClaim: { mode } },
      "CLAIM_UNSUPPORTED",
    ],
  ])("refuses %s", (_, options, code) => {
    expect(() => createDeepAgent(options as never)).toThrow(expect.objectContaining({ code }));
  });

  test("takes both modes, a time and null", () => {
    for (const threadClaim of [{ mode }, { mode: "refuse", ttl: 2.5 } as const, null])
      expect(() => createDeepAgent({ checkpointer, threadClaim })).not.toThrow();
  });
});
