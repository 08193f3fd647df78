import type { RunnableConfig } from "@langchain/core/runnables";
import { type Checkpoint, type CheckpointMetadata, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { anyTool, ask, onThread, scripted } from "./loop/fixtures/agents.ts";
import { callTool, say } from "./testing/index.ts";

/** Takes its time, and notes what it is given and how much of it at a time. */
class SlowSaver extends MemorySaver {
  readonly steps: number[] = [];
  failAt = Number.POSITIVE_INFINITY;
  mostUnderWay = 0;
  #underWay = 0;

  constructor(readonly keepsOrder: boolean) {
    super();
  }

  override async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata) {
    this.steps.push(metadata.step);
    if (metadata.step === this.failAt) throw new Error("disk full");
    this.#underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
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
    const saver = new SlowSaver(true);
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

  test("are waited for after each step where that is asked for", async () => {
    const saver = new SlowSaver(true);
    const agent = agentWith(saver);
    await agent.invoke(ask(), { ...onThread("t"), durability: "sync" });
    // That of the input goes with that of the first step.
    expect(saver.mostUnderWay).toBe(2);
    expect((await agent.getState(onThread("t"))).metadata?.step).toBe(saver.steps.at(-1));
  });
});
