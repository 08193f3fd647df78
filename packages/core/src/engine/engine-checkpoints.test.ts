import { setTimeout as sleep } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type Checkpoint, type CheckpointMetadata, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { anyTool, ask, loopAgent, onThread, scripted } from "../loop/fixtures/agents.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";

/** Takes its time, and notes what it is given and how much of it at a time. */
class SlowSaver extends MemorySaver {
  readonly steps: number[] = [];
  failAt = Number.POSITIVE_INFINITY;
  mostUnderWay = 0;
  #underWay = 0;

  constructor(
    readonly keepsOrder: boolean,
    readonly store: () => Promise<void> = () => sleep(5),
  ) {
    super();
  }

  override async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata) {
    this.steps.push(metadata.step);
    if (metadata.step === this.failAt) throw new Error("disk full");
    this.#underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay);
    await this.store();
    this.#underWay -= 1;
    return super.put(config, checkpoint, metadata);
  }
}

const TURNS = 5;

function agentWith(checkpointer: SlowSaver) {
  const script = [...Array(TURNS).fill(callTool("look")), say("done")];
  return scripted(script, { tools: [anyTool("look", () => "seen")], checkpointer }).agent;
}

describe("checkpoints", () => {
  test("go at once, and in their order, to a saver that keeps it", async () => {
    const saver = new SlowSaver(true, () => until(() => saver.steps.length > TURNS));
    const agent = agentWith(saver);
    await agent.invoke(ask(), onThread("t"));
    expect(saver.mostUnderWay).toBeGreaterThan(TURNS);
    expect(saver.steps).toEqual([...saver.steps].sort((a, b) => a - b));
    expect(saver.steps).toHaveLength(2 * TURNS + 3);
    const stored: number[] = [];
    for await (const { metadata } of agent.getStateHistory(onThread("t"))) stored.push(metadata?.step ?? 0);
    expect(stored.reverse()).toEqual(saver.steps);
  });

  test("go one after another to any other saver", async () => {
    const saver = new SlowSaver(false);
    await agentWith(saver).invoke(ask(), onThread("t"));
    expect(saver.mostUnderWay).toBe(1);
    expect(saver.steps).toHaveLength(2 * TURNS + 3);
  });

  test("after one that could not be stored are not stored, and the run says why", async () => {
    const saver = new SlowSaver(true);
    saver.failAt = 2;
    await expect(agentWith(saver).invoke(ask(), onThread("t"))).rejects.toThrow("disk full");
    expect(saver.steps.at(-1)).toBe(2);
  });

  test.each(["sync", "async"] as const)(
    "of a call that cannot be stored while others run (%s) end the run, and not the process",
    async (durability) => {
      const saver = new SlowSaver(true);
      saver.putWrites = async (_config, writes) => {
        if (writes.some(([, value]) => JSON.stringify(value)?.includes("done already")))
          throw new Error("disk full");
      };
      const complaints: unknown[] = [];
      const complain = (reason: unknown) => complaints.push(reason);
      process.on("unhandledRejection", complain);
      onTestFinished(() => void process.off("unhandledRejection", complain));
      const turn = { toolCalls: [{ name: "quick" }, { name: "slow" }] };
      const { agent, model } = scripted([turn, say("done")], {
        checkpointer: saver,
        tools: [
          anyTool("quick", () => "done already"),
          anyTool("slow", () => new Promise((resolve) => setTimeout(resolve, 100, "slow"))),
        ],
      });
      await expect(agent.invoke(ask(), { ...onThread("t"), durability })).rejects.toThrow("disk full");
      expect(complaints).toEqual([]);
      expect(model.calls).toHaveLength(1);
    },
  );

  test("are waited for after each step where that is asked for", async () => {
    const saver = new SlowSaver(true, async () => {
      await until(() => saver.steps.length > 1);
      await sleep(5);
    });
    const agent = agentWith(saver);
    await agent.invoke(ask(), { ...onThread("t"), durability: "sync" });
    // That of the input goes with that of the first step.
    expect(saver.mostUnderWay).toBe(2);
    expect((await agent.getState(onThread("t"))).metadata?.step).toBe(saver.steps.at(-1));
  });
});

describe("R-35 a clock that is set back", () => {
  const A_DAY = 86_400_000;
  afterEach(() => {
    vi.useRealTimers();
  });
  const clockAt = (days: number): void => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 10) + days * A_DAY });
  };
  const textsOf = async (agent: {
    getState(config: object): Promise<{ values: { messages: { text: string }[] } }>;
  }) => (await agent.getState(onThread("t"))).values.messages.map(({ text }) => text);

  test("in the middle of a run, and between runs, hides nothing of what came after", async () => {
    let days = 0;
    const tools = [
      anyTool("look", () => {
        days -= 1;
        clockAt(days);
        return `seen ${days}`;
      }),
    ];
    const script = [callTool("look"), callTool("look"), say("one"), callTool("look"), say("two")];
    const { agent } = scripted(script, { tools, checkpointer: new MemorySaver() });
    clockAt(0);
    await agent.invoke(ask("a"), onThread("t"));
    await agent.invoke(ask("b"), onThread("t"));
    expect(await textsOf(agent)).toEqual([
      "a",
      "",
      "seen -1",
      "",
      "seen -2",
      "one",
      "b",
      "",
      "seen -3",
      "two",
    ]);
    const steps: number[] = [];
    for await (const { metadata } of agent.getStateHistory(onThread("t"))) steps.push(metadata?.step ?? 0);
    expect(steps).toEqual(steps.toSorted((left, right) => right - left));
  });

  test("does not hide an update, nor what a run from an earlier checkpoint does", async () => {
    const { agent } = scripted([say("one"), say("again")], { checkpointer: new MemorySaver() });
    clockAt(1);
    await agent.invoke(ask("a"), onThread("t"));
    const { config } = await agent.getState(onThread("t"));
    clockAt(0);
    await agent.updateState(onThread("t"), { messages: [new HumanMessage("b")] });
    expect(await textsOf(agent)).toEqual(["a", "one", "b"]);
    await agent.updateState(config, { messages: [new HumanMessage("c")] });
    expect(await textsOf(agent)).toEqual(["a", "one", "c"]);
    await agent.invoke(ask("d"), config);
    expect(await textsOf(agent)).toEqual(["a", "one", "d", "again"]);
  });

  test("runs no finished call again when a run that was cut off is taken up", async () => {
    const checkpointer = new MemorySaver();
    const done: string[] = [];
    const isStored = (text: string): boolean =>
      Object.values(checkpointer.writes)
        .flatMap((writes) => Object.values(writes))
        .some(([, , value]) => Buffer.from(value).includes(text));
    const cut = new AbortController();
    const agentThat = (second: () => unknown) =>
      loopAgent({
        checkpointer,
        tools: [anyTool("first", () => String(done.push("first"))), anyTool("second", second)],
        model: scriptedModel(({ messages }) => {
          clockAt(0);
          return messages.length > 1
            ? say("done")
            : {
                toolCalls: [
                  { name: "first", args: {} },
                  { name: "second", args: {} },
                ],
              };
        }),
      });
    clockAt(1);
    const cutOff = agentThat(async () => {
      await until(() => isStored('"content":"1"'));
      cut.abort();
      return new Promise(() => {});
    });
    await expect(cutOff.invoke(ask("a"), { ...onThread("t"), signal: cut.signal })).rejects.toThrow();
    const agent = agentThat(() => "2");
    await agent.invoke(null, onThread("t"));
    expect(done).toEqual(["first"]);
    expect(await textsOf(agent)).toEqual(["a", "", "1", "2", "done"]);
  });
});
