/** The input of a run: a task, answers to pending questions, or an interrupted run. */
import { usageError } from "../command-error.ts";
import { type AgentState, type RunnableAgent, taskInput } from "./run-agent.ts";
import type { RunOptions } from "./run-options.ts";
import { isAi, isMessage } from "./stream-part.ts";

export interface RunInput {
  readonly input: unknown;
  /** Questions the thread waits with; there is no input then. */
  readonly open: readonly unknown[];
  /** A note to print. */
  readonly note?: string;
}

/** Throws where there is nothing to do. `keeps` is kept with the thread, by the keys of its state. */
export async function runInput(
  { agent, keeps }: { readonly agent: RunnableAgent; readonly keeps: Record<string, unknown> },
  config: Record<string, unknown>,
  task: string | undefined,
  { answer, thread }: Pick<RunOptions, "answer" | "thread">,
): Promise<RunInput> {
  const state = thread === undefined ? undefined : await agent.getState?.(config as never);
  const open = openQuestions(state);
  if (answer !== undefined && task !== undefined)
    throw usageError("Give the thread an answer or a task, not both: a task cancels open questions.");
  if (answer !== undefined && open.length === 0)
    throw usageError("This thread waits for no answer: it has one, or a new task cancelled the question.");
  if (task !== undefined)
    return {
      input: { ...taskInput(task), ...keeps },
      open: [],
      ...(open.length > 0 ? { note: "The new task cancels the calls that waited for approval." } : {}),
    };
  if (open.length > 0) return { input: null, open };
  if (state === undefined || state.tasks.length > 0) return { input: null, open };
  // A run that was stopped at a limit ends behind the results of its last turn.
  if (isCutOff(state)) return { input: { messages: [] }, open };
  throw usageError(
    "The last run of this thread is finished: there is nothing to continue.",
    'Say what to do next: deepwright run --thread ID "task".',
  );
}

function openQuestions(state: AgentState | undefined): readonly unknown[] {
  return (state?.tasks ?? []).flatMap(({ interrupts = [] }) => interrupts);
}

function isCutOff({ values }: AgentState): boolean {
  const last = values.messages?.at(-1);
  return isMessage(last) && !isAi(last);
}
