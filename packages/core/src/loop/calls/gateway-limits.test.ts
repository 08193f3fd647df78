/** how many tools run at once, and how long each may take. */
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../../../../scripts/test-time.ts";
import { sendWrites } from "../../engine/engine.ts";
import { callTool, say } from "../../testing/index.ts";
import { anyTool, ask, lastText, onThread, outline, resultsOf, scripted } from "../fixtures/agents.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const never = (): Promise<never> => new Promise(() => {});
const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((done) => signal.addEventListener("abort", done));

/** Complaints of the process: too many listeners, or a failure nobody read. */
const complaints: unknown[] = [];
const complain = (complaint: unknown): void => {
  complaints.push(complaint);
};
beforeEach(() => {
  complaints.length = 0;
  process.on("warning", complain);
  process.on("unhandledRejection", complain);
});
afterEach(async () => {
  await wait(0);
  process.off("warning", complain);
  process.off("unhandledRejection", complain);
  expect(complaints).toEqual([]);
});

/**
 * Counts how many bodies run at the same moment, in all and by name. They run on until `expected` are there together,
 * or do not come.
 */
function gauge(expected: Readonly<Record<string, number>> = {}) {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const move = (name: string, by: number): void => {
    const count = (now.get(name) ?? 0) + by;
    now.set(name, count);
    most.set(name, Math.max(most.get(name) ?? 0, count));
  };
  const isMissing = (): boolean =>
    Object.entries(expected).some(([name, count]) => (most.get(name) ?? 0) < count);
  const measured = (name: string) =>
    anyTool(name, async ({ n }) => {
      for (const key of [name, "all"]) move(key, 1);
      await wait(5);
      for (let polls = 0; isMissing() && polls < 400; polls += 1) await wait(5);
      for (const key of [name, "all"]) move(key, -1);
      return `${name} ${n}`;
    });
  return { most, measured };
}

function manyCalls(count: number, ...names: string[]) {
  const calls = Array.from({ length: count }, (_, n) => ({
    name: names[n % names.length] as string,
    args: { n },
  }));
  return { toolCalls: calls };
}

describe("R-26 many calls in one turn", () => {
  test.each(["invoke", "stream"] as const)(
    "200 calls run at most 16 at once and are answered in call order, by %s",
    async (way) => {
      const { most, measured } = gauge({ job: 16 });
      const { agent, model } = scripted([manyCalls(200, "job"), say("done")], {
        tools: [measured("job")],
        checkpointer: new MemorySaver(),
      });
      const config = { ...onThread("t"), signal: new AbortController().signal };
      if (way === "invoke") await agent.invoke(ask(), config);
      else for await (const _ of await agent.stream(ask(), { ...config, streamMode: "messages" }));
      const { messages } = (await agent.getState(onThread("t"))).values;
      const expected = Array.from({ length: 200 }, (_, n) => `job ${n}`);
      expect(resultsOf(messages).map((result) => result.content)).toEqual(expected);
      expect(most.get("job")).toBe(16);
      expect(model.violations).toEqual([]);
    },
  );

  test("200 calls with a time limit each leave no listeners behind", async () => {
    const { measured } = gauge();
    const options = { tools: [measured("job")], toolTimeout: 600 };
    const { agent } = scripted([manyCalls(200, "job"), say("done")], options);
    const state = await agent.invoke(ask(), { signal: new AbortController().signal });
    expect(resultsOf(state.messages)).toHaveLength(200);
  });

  test("200 calls that all fail are 200 results", async () => {
    const broken = anyTool("broken", () => {
      throw new Error("no");
    });
    const { agent } = scripted([manyCalls(200, "broken"), say("done")], { tools: [broken] });
    const state = await agent.invoke(ask());
    expect(resultsOf(state.messages).every((result) => result.status === "error")).toBe(true);
    expect(lastText(state)).toBe("done");
  });

  test.each([
    ["one number for all", 3, { all: 3 }],
    ["a number of one tool", { a: 1 }, { a: 1, all: 17 }],
    ["the same number for two tools counts each on its own", { a: 2, b: 2 }, { a: 2, b: 2, all: 4 }],
  ])("toolConcurrency: %s", async (_, toolConcurrency, limits) => {
    const { most, measured } = gauge(limits);
    const { agent } = scripted([manyCalls(60, "a", "b"), say("done")], {
      tools: [measured("a"), measured("b")],
      toolConcurrency,
    });
    await agent.invoke(ask());
    for (const [name, limit] of Object.entries(limits)) expect([name, most.get(name)]).toEqual([name, limit]);
  });

  test("as many run at once as a user allows, however many these are", async () => {
    const { most, measured } = gauge({ a: 250 });
    const { agent } = scripted([manyCalls(300, "a"), say("done")], {
      tools: [measured("a")],
      toolConcurrency: { a: 250 },
    });
    await agent.invoke(ask());
    expect(most.get("a")).toBe(250);
  });

  test("64 calls of task run at once", async () => {
    const { most, measured } = gauge({ task: 64 });
    const { agent } = scripted([manyCalls(100, "task"), say("done")], { tools: [measured("task")] });
    await agent.invoke(ask());
    expect(most.get("task")).toBe(64);
  });
});

describe("R-29 a tool that takes too long", () => {
  test("one that never returns and ignores its signal is answered for, and its sibling's result is kept", async () => {
    const { agent, model } = scripted([{ toolCalls: [{ name: "deaf" }, { name: "quick" }] }, say("done")], {
      tools: [anyTool("deaf", never), anyTool("quick", () => "quick")],
      toolTimeout: { deaf: 0.05 },
    });
    const state = await agent.invoke(ask());
    const [deaf, quick] = resultsOf(state.messages);
    expect(deaf).toMatchObject({ status: "error", name: "deaf" });
    expect(deaf?.content).toMatch(/^Error: Tool 'deaf' timed out after 0.05 s and was stopped\.$/);
    expect(quick?.content).toBe("quick");
    expect([lastText(state), model.callCount]).toEqual(["done", 2]);
  });

  test("what it returns or writes after its time is dropped", async () => {
    let finished = (): void => {};
    const late = new Promise<void>((done) => {
      finished = done;
    });
    const slow = anyTool("slow", async (_, runtime) => {
      await aborted(runtime.signal);
      await wait(20);
      sendWrites(runtime.config, [
        ["note", "written late"],
        ["messages", [{ role: "user", content: "written late" }]],
      ]);
      finished();
      return "returned late";
    });
    const options = {
      tools: [slow],
      toolTimeout: 0.02,
      stateSchema: z.object({ note: z.string().optional() }),
      checkpointer: new MemorySaver(),
    };
    const waiting = async () => {
      await late;
      await wait(20);
      return say("done");
    };
    const { agent } = scripted(({ turn }) => (turn === 0 ? callTool("slow") : waiting()), options);
    await agent.invoke(ask(), onThread("t"));
    const { values } = await agent.getState(onThread("t"));
    expect(values.note).toBeUndefined();
    expect(JSON.stringify(values.messages)).not.toMatch(/late/);
    expect(outline(values.messages)).toEqual(["human Go.", "ai → slow", "tool slow failed", "ai done"]);
  });

  test("a failure after its time has no reader", async () => {
    const slow = anyTool("slow", async (_, { signal }) => {
      await aborted(signal);
      await wait(20);
      throw new Error("too late");
    });
    const { agent } = scripted([callTool("slow"), { text: "done", latency: 100 }], {
      tools: [slow],
      toolTimeout: 0.02,
    });
    const state = await agent.invoke(ask());
    expect(resultsOf(state.messages)[0]?.content).toMatch(/timed out/);
  });

  test("its signal fires at the deadline, with the reason", async () => {
    let reason: unknown;
    const polite = anyTool("polite", (_, { signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return never();
    });
    const { agent } = scripted([callTool("polite"), say("done")], { tools: [polite], toolTimeout: 0.02 });
    await agent.invoke(ask());
    expect(String(reason)).toMatch(/timed out after 0.02 s/);
  });

  test("a limit for one tool does not bind the others", async () => {
    const { agent } = scripted([{ toolCalls: [{ name: "deaf" }, { name: "slow" }] }, say("done")], {
      tools: [anyTool("deaf", never), anyTool("slow", () => wait(100).then(() => "slow"))],
      toolTimeout: { deaf: 0.02 },
    });
    const [deaf, slow] = resultsOf((await agent.invoke(ask())).messages);
    expect([deaf?.status, slow?.content]).toEqual(["error", "slow"]);
  });

  test("waiting for a slot does not count", async () => {
    const slow = anyTool("slow", () => wait(400).then(() => "slow"));
    // A busy machine may need the second for one call.
    await eventually(async () => {
      const { agent } = scripted([manyCalls(3, "slow"), say("done")], {
        tools: [slow],
        toolTimeout: 1,
        toolConcurrency: 1,
      });
      const results = resultsOf((await agent.invoke(ask())).messages);
      expect(results.map((result) => result.content)).toEqual(["slow", "slow", "slow"]);
    });
  });

  test.each([Number.POSITIVE_INFINITY, 1e9])(
    "a limit of %s seconds is no limit at once",
    async (toolTimeout) => {
      const slow = anyTool("slow", () => wait(50).then(() => "slow"));
      const { agent } = scripted([callTool("slow"), say("done")], { tools: [slow], toolTimeout });
      expect(resultsOf((await agent.invoke(ask())).messages)[0]?.content).toBe("slow");
    },
  );

  test("stopping the run is not told as a time-out", async () => {
    const controller = new AbortController();
    const slow = anyTool("slow", () => {
      setTimeout(() => controller.abort(), 20);
      return never();
    });
    const { agent } = scripted([callTool("slow"), say("done")], { tools: [slow], toolTimeout: 600 });
    await expect(agent.invoke(ask(), { signal: controller.signal })).rejects.toThrow(/abort/i);
  });
});
