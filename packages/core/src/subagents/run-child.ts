/** Runs a child inside the task of its parent and keeps track of how far it came. */
import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { treeOf } from "../backends/run-tree.ts";
import { stoppedBy } from "../engine/engine.ts";
import { withDeadline } from "../loop/calls/limits.ts";
import { passesGate } from "../loop/failures/caller-mistake.ts";
import { AgentGraph } from "../loop/graph/agent-graph.ts";
import { linkedSignal } from "../loop/task/linked-signal.ts";
import { observedRun } from "../loop/task/run-observer.ts";
import type { StateValues } from "./child-state.ts";

/** Anything that can be run; a runnable that streams reports its state after each step. */
export interface ChildRunnable {
  invoke(input: unknown, options?: unknown): Promise<unknown>;
  stream?(input: unknown, options?: unknown): unknown;
}

/** As the task of the parent has it. */
export type ChildConfig = LangGraphRunnableConfig;

/** How a run ended: with its last state, and the error if one ended it. */
export interface ChildEnd {
  readonly state: unknown;
  readonly error?: { readonly thrown: unknown };
}

/**
 * Throws only errors that do not belong to the child: an abort, control flow of the enclosing graph, mistakes of the
 * caller.
 */
export async function runChild(
  child: ChildRunnable,
  input: StateValues,
  config: ChildConfig,
  limits: { readonly seconds?: number | undefined; readonly stop?: AbortSignal | undefined } = {},
): Promise<ChildEnd> {
  const progress: { state?: unknown } = {};
  try {
    await withDeadline(limits.seconds, config.signal, (given) =>
      untilStopped(limits.stop, given, (either) => {
        const { signal, release } = linkedSignal(either);
        return follow(child, input, stoppedBy(config, signal), progress).finally(release);
      }),
    );
    return { state: progress.state };
  } catch (thrown) {
    if (config.signal?.aborted || (thrown !== null && isGraphBubbleUp(thrown))) throw thrown;
    if (passesGate(thrown)) throw thrown;
    return { state: progress.state, error: { thrown } };
  }
}

/** Rejects with the reason of `stop` when it fires, whether or not `body` listens. */
async function untilStopped(
  stop: AbortSignal | undefined,
  signal: AbortSignal | undefined,
  body: (signal: AbortSignal | undefined) => Promise<void>,
): Promise<void> {
  if (stop === undefined) return body(signal);
  let release = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    const fail = (): void => reject(stop.reason);
    stop.addEventListener("abort", fail, { once: true });
    release = () => stop.removeEventListener("abort", fail);
  });
  const work = body(signal ? AbortSignal.any([signal, stop]) : stop);
  // A child that was stopped has no reader any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, stopped]);
  } finally {
    release();
  }
}

async function follow(
  child: ChildRunnable,
  input: StateValues,
  config: ChildConfig,
  progress: { state?: unknown },
): Promise<void> {
  if (child instanceof AgentGraph) {
    const options = { ...config, streamMode: "values", engineOnly: true };
    for await (const state of await child.stream(input, options)) progress.state = state;
    return;
  }
  // Our own agents report to the observer themselves.
  const run = { name: treeOf(config).agentPath.at(-1), isForeign: true };
  for await (const state of observedRun(run, config, (own) => states(child, input, own)))
    progress.state = state;
}

async function* states(child: ChildRunnable, input: StateValues, config: ChildConfig) {
  if (tellsSteps(child))
    yield* (await child.stream(input, { ...config, streamMode: "values" })) as AsyncIterable<unknown>;
  else yield await child.invoke(input, config);
}

/** Graphs of LangGraph, and agents around one, which have it as `graph`. */
export function graphOf(child: object): object | undefined {
  const { lg_is_pregel: isGraph, graph } = child as {
    lg_is_pregel?: boolean;
    graph?: { lg_is_pregel?: boolean };
  };
  if (isGraph === true) return child;
  return graph?.lg_is_pregel === true ? graph : undefined;
}

function tellsSteps(child: ChildRunnable): child is Required<ChildRunnable> {
  return typeof child.stream === "function" && graphOf(child) !== undefined;
}
