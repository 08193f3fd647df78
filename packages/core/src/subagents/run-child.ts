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

/** Throws only what is not the child's own: that the run is to stop, control flow of the graph around it, what the caller must mend. */
export async function runChild(
  child: ChildRunnable,
  input: StateValues,
  config: ChildConfig,
  seconds?: number,
): Promise<ChildEnd> {
  const progress: { state?: unknown } = {};
  try {
    await withDeadline(seconds, config.signal, (given) => {
      const { signal, release } = linkedSignal(given);
      return follow(child, input, stoppedBy(config, signal), progress).finally(release);
    });
    return { state: progress.state };
  } catch (thrown) {
    if (config.signal?.aborted || (thrown !== null && isGraphBubbleUp(thrown))) throw thrown;
    if (passesGate(thrown)) throw thrown;
    return { state: progress.state, error: { thrown } };
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
  // Our own agents tell who watches themselves.
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
