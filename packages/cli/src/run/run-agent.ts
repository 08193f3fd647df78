/** Runs an agent on a task and follows its stream to the end, also after a failure or a stop. */
import { Ledger } from "./output/ledger.ts";
import type { RunEnd } from "./output/run-end.ts";
import { type Stop, untilStopped } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";

/** The slice of an agent that a run needs. */
export interface RunnableAgent {
  stream(input: never, options: never): Promise<AsyncIterable<StreamPart>>;
  /** For agents with a checkpointer. Tasks include finished ones while their step is unfinished. */
  getState?(config: never): Promise<AgentState>;
}

export interface AgentState {
  readonly tasks: readonly { readonly interrupts?: readonly unknown[] }[];
  readonly values: { readonly messages?: readonly unknown[] };
}

/** The agent input for a person's message. */
export function taskInput(text: string): { readonly messages: readonly object[] } {
  return { messages: [{ role: "user", content: text }] };
}

export interface AgentRun {
  readonly agent: RunnableAgent;
  /** The agent's input; null resumes the interrupted run of the thread. */
  readonly input: unknown;
  readonly stop: Stop;
  /** Sees every part as it comes. */
  readonly onPart: (part: StreamPart) => void;
  /** Laid over the configuration of the run. */
  readonly config?: Record<string, unknown>;
  /** The ledger of earlier streams; absent: a new one. */
  readonly ledger?: Ledger;
}

export interface RunResult {
  readonly end: RunEnd;
  readonly ledger: Ledger;
}

export async function runAgent(run: AgentRun): Promise<RunResult> {
  const ledger = run.ledger ?? new Ledger();
  try {
    await untilStopped(follow(run, ledger), run.stop.signal);
  } catch (error) {
    if (run.stop.reason === undefined) return { end: { kind: "failed", error }, ledger };
  }
  if (run.stop.reason !== undefined) return { end: { kind: "stopped", by: run.stop.reason }, ledger };
  if (ledger.pending.length > 0)
    return { end: { kind: "approval", questions: ledger.pending.length }, ledger };
  return { end: { kind: "outcome", outcome: ledger.outcome ?? { kind: "done" } }, ledger };
}

async function follow({ agent, input, stop, onPart, config }: AgentRun, ledger: Ledger): Promise<void> {
  // The engine leaves a listener at the signal of every stream: each gets one of its own.
  const own = new AbortController();
  const abort = (): void => own.abort(stop.signal.reason);
  if (stop.signal.aborted) abort();
  stop.signal.addEventListener("abort", abort, { once: true });
  const options = {
    ...config,
    version: "v2",
    streamMode: ["updates", "messages", "custom", "values"],
    subgraphs: true,
    signal: own.signal,
  };
  try {
    for await (const part of await agent.stream(input as never, options as never)) {
      if (stop.reason !== undefined) return;
      ledger.take(part);
      onPart(part);
    }
  } finally {
    stop.signal.removeEventListener("abort", abort);
  }
}
