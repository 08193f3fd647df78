/** A run that is stopped: everything it does ends, and the thread can go on. */
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { callTool, fault, type Script, say } from "../../testing/index.ts";
import {
  type AgentOptions,
  anyTool,
  ask,
  onThread,
  outline,
  resultsOf,
  scripted,
} from "../fixtures/agents.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const never = (): Promise<never> => new Promise(() => {});

/** Calls the given tools in answer to "Go.", and says done to anything else. */
function calling(...names: string[]): Script {
  return ({ messages }) =>
    messages.at(-1)?.content === "Go."
      ? { toolCalls: names.map((name, i) => ({ name, id: `call-${i}` })) }
      : say("done");
}

/** A run that is stopped when `when` resolves. */
async function stopped(script: Script, options: AgentOptions, when: Promise<unknown>) {
  const controller = new AbortController();
  const setup = scripted(script, { checkpointer: new MemorySaver(), ...options });
  const run = setup.agent.invoke(ask(), { ...onThread("t"), signal: controller.signal });
  const outcome = run.then(
    () => "finished",
    (error: Error) => error,
  );
  await when;
  controller.abort(new Error("the user pressed stop"));
  return { ...setup, error: await outcome };
}

function signalOf() {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe("stopping a run", () => {
  test("ends a model call", async () => {
    const asked = signalOf();
    let signal: AbortSignal | undefined;
    const script: Script = (request) => {
      signal = request.signal;
      asked.resolve();
      return fault.never();
    };
    const { error } = await stopped(script, {}, asked.promise);
    expect(error).toBeInstanceOf(Error);
    expect(signal?.aborted).toBe(true);
  });

  test("reaches a tool that listens, and its error is no result", async () => {
    const begun = signalOf();
    let heard = 0;
    const polite = anyTool("polite", async (_, { signal }) => {
      begun.resolve();
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          heard += 1;
          reject(signal.reason);
        });
      });
    });
    const { agent, model, error } = await stopped(calling("polite"), { tools: [polite] }, begun.promise);
    expect(error).toBeInstanceOf(Error);
    expect([heard, model.callCount]).toEqual([1, 1]);
    expect(resultsOf((await agent.getState(onThread("t"))).values.messages)).toEqual([]);
  });

  test("does not wait for a deaf tool, whose late result and writes are dropped", async () => {
    const begun = signalOf();
    const isStopped = signalOf();
    const deaf = anyTool("deaf", async () => {
      begun.resolve();
      await isStopped.promise;
      return "too late";
    });
    const { agent, error } = await stopped(calling("deaf"), { tools: [deaf] }, begun.promise);
    expect(error).toBeInstanceOf(Error);
    isStopped.resolve();
    await wait(20);
    const state = await agent.invoke(ask("And now?"), onThread("t"));
    expect(JSON.stringify(state.messages)).not.toMatch(/too late/);
    expect(outline(state.messages).slice(2)).toEqual(["tool deaf failed", "human And now?", "ai done"]);
  });

  test("keeps calls that wait for a slot from starting", async () => {
    const begun = signalOf();
    const isStopped = signalOf();
    const started: number[] = [];
    const deaf = anyTool("deaf", async () => {
      if (started.push(started.length) === 2) begun.resolve();
      await isStopped.promise;
    });
    const options = { tools: [deaf], toolConcurrency: 2 };
    await stopped(calling(...Array(6).fill("deaf")), options, begun.promise);
    isStopped.resolve();
    await wait(100);
    expect(started).toEqual([0, 1]);
  });

  test.each([undefined, "v2"])("also by the stream's own cancel, version %s", async (version) => {
    const begun = signalOf();
    const heard = signalOf();
    const listening = anyTool("listening", (_, { signal }) => {
      signal.addEventListener("abort", heard.resolve);
      begun.resolve();
      return never();
    });
    const { agent } = scripted(calling("listening"), { tools: [listening] });
    const stream = await agent.stream(ask(), { streamMode: "updates", version });
    const read = (async () => {
      for await (const _ of stream);
    })().catch(() => undefined);
    await begun.promise;
    await stream.cancel();
    await heard.promise;
    await read;
  });

  test("before it began: no model call, no tool, nothing stored", async () => {
    const checkpointer = new MemorySaver();
    const { agent, model } = scripted(calling("work"), { tools: [anyTool("work", () => "")], checkpointer });
    const run = agent.invoke(ask(), { ...onThread("t"), signal: AbortSignal.abort() });
    await expect(run).rejects.toThrow(/abort/i);
    expect(model.callCount).toBe(0);
    expect((await agent.getState(onThread("t"))).values.messages ?? []).toEqual([]);
  });
});

describe("a thread after its run was stopped", () => {
  async function halfDone() {
    const begun = signalOf();
    let slowRuns = 0;
    let quickRuns = 0;
    const quick = anyTool("quick", () => {
      quickRuns += 1;
      return "quick is done";
    });
    const slow = anyTool("slow", async () => {
      slowRuns += 1;
      if (slowRuns > 1) return "slow is done";
      await until(() => quickRuns === 2);
      await wait(50);
      begun.resolve();
      return never();
    });
    const setup = await stopped(calling("quick", "slow", "quick"), { tools: [quick, slow] }, begun.promise);
    return { ...setup, runs: () => ({ slowRuns, quickRuns }) };
  }

  test("a new message: finished results stay, the stopped call is closed truthfully", async () => {
    const { agent, model, runs } = await halfDone();
    const state = await agent.invoke(ask("Leave it."), onThread("t"));
    expect(outline(state.messages)).toEqual([
      "human Go.",
      "ai → quick slow quick",
      "tool quick ok",
      "tool slow failed",
      "tool quick ok",
      "human Leave it.",
      "ai done",
    ]);
    expect(resultsOf(state.messages)[1]?.content).toMatch(
      /cancelled or did not complete\. It may have run in part/,
    );
    expect(model.violations).toEqual([]);
    expect(runs()).toEqual({ slowRuns: 1, quickRuns: 2 });
  });

  test("going on: only the stopped call runs again", async () => {
    const { agent, runs } = await halfDone();
    const state = await agent.invoke(null, onThread("t"));
    expect(outline(state.messages).slice(2)).toEqual([
      "tool quick ok",
      "tool slow ok",
      "tool quick ok",
      "ai done",
    ]);
    expect(runs()).toEqual({ slowRuns: 2, quickRuns: 2 });
  });

  test("stopped in the model call, a new message follows the old one", async () => {
    const asked = signalOf();
    const script: Script = ({ messages }) => {
      asked.resolve();
      return messages.length === 1 ? fault.never() : say("done");
    };
    const { agent, model } = await stopped(script, {}, asked.promise);
    const state = await agent.invoke(ask("Still there?"), onThread("t"));
    expect(outline(state.messages)).toEqual(["human Go.", "human Still there?", "ai done"]);
    expect(model.violations).toEqual([]);
  });

  test("without a saver nothing is left and the agent can be used again", async () => {
    const controller = new AbortController();
    const { agent } = scripted([callTool("stop"), say("never said"), say("fresh")], {
      tools: [anyTool("stop", () => controller.abort())],
    });
    await expect(agent.invoke(ask(), { signal: controller.signal })).rejects.toThrow(/abort/i);
    expect((await agent.invoke(ask())).messages).toHaveLength(2);
  });
});
