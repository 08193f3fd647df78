/** The end of a run: all checks of the todo list must pass, or the model goes on, or the run ends `unverified`. */
import { AIMessage } from "@langchain/core/messages";
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import { type HarnessCalls, harnessCallsOf } from "../loop/contract/harness-calls.ts";
import type { Stages, StageTask } from "../loop/contract/stages.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import { REMINDERS } from "../loop/messages/reminders.ts";
import { TASK_TOOL } from "../subagents/words.ts";
import { toolEffect } from "../tools/tool-effect.ts";
import { type CheckedTodo, checkKey } from "./check.ts";
import { type ChangesNothing, EVIDENCE, evidenceIn, isFresh, NO_EVIDENCE } from "./evidence.ts";
import { type FailedCheck, runChecks } from "./run-checks.ts";
import { failureWords, listed, messagesIn, todosIn, withoutUnproven } from "./write-checked-todos.ts";

export interface EndOfRunSettings {
  readonly backend: (runtime: BackendRuntime) => BackendProtocol | Promise<BackendProtocol>;
  /** How often the model is sent back to work. */
  readonly attempts: number;
}

type State = Readonly<Record<string, unknown>>;
type Runtime = BackendRuntime & { readonly signal?: AbortSignal };

/** Checks with fresh evidence do not run again. When one has to run all do: a command may change what others saw. */
export async function checkAtEnd(
  state: State,
  runtime: Runtime,
  settings: EndOfRunSettings,
): Promise<Record<string, unknown> | undefined> {
  const todos = todosIn(state);
  const checked = todos.filter(({ check }) => check !== undefined);
  if ((state.outcome as Outcome | undefined)?.kind !== "done" || checked.length === 0) return undefined;
  const calls = harnessCallsOf(runtime);
  if (calls === undefined) return undefined;
  const evidence = evidenceIn(state[EVIDENCE]);
  const messages = messagesIn(state);
  const isProven = ({ check }: CheckedTodo): boolean =>
    check !== undefined && isFresh(evidence.passed[checkKey(check)], messages, changesNothing(calls));
  if (checked.every(isProven)) return undefined;
  const backend = await settings.backend({ ...runtime, state });
  const { passed, failed } = await runChecks(checked, { backend, calls, signal: runtime.signal });
  const last = messages.findLast((message) => AIMessage.isInstance(message))?.id ?? "";
  const sentBack = evidence.sentBack + (failed.length > 0 ? 1 : 0);
  const update = {
    todos: withoutUnproven(todos, failed),
    [EVIDENCE]: { passed: Object.fromEntries(passed.map((key) => [key, last])), sentBack },
  };
  if (failed.length === 0) return update;
  if (sentBack > settings.attempts) return { ...update, outcome: unverified(failed) };
  const after = messages.at(-1)?.id ?? "";
  const text = sentBackWords(failed, settings.attempts - sentBack);
  return { ...update, [REMINDERS]: [{ id: `checks-${after}`, after, text }], jumpTo: "model" };
}

/** Subagents change files, although the tool that calls them does not. */
function changesNothing(calls: HarnessCalls): ChangesNothing {
  return (tool) => tool !== TASK_TOOL && toolEffect(calls.toolNamed(tool)) === "reads";
}

function unverified(failed: readonly FailedCheck[]): Outcome {
  return {
    kind: "unverified",
    detail: `Completion checks failed:\n${listed(failed.map(({ todo }) => todo))}`,
  };
}

function sentBackWords(failed: readonly FailedCheck[], left: number): string {
  const more =
    left === 0 ? "This is the last time" : `This happens ${left} more ${left === 1 ? "time" : "times"}`;
  return `You ended, but completion checks of your todo list do not pass. Do what is missing, then end again; say so if it cannot be done. ${more}.\n\n${failed.map(failureWords).join("\n\n")}`;
}

/** A new run settles what the run before has proven, and counts anew. */
export const newRunStages: Stages = {
  input: (messages, task) => {
    if (messages.length > 0) beginRun(task);
    return messages;
  },
};

function beginRun(task: StageTask): void {
  if (task.read(EVIDENCE) !== undefined) task.write(EVIDENCE, NO_EVIDENCE);
  const todos = todosIn({ todos: task.read("todos") });
  const hasEnded = task.read("outcome") !== undefined;
  if (!hasEnded || !todos.some(isSettled)) return;
  task.write(
    "todos",
    todos.map(({ check, ...todo }) => (check === undefined || isSettled(todo) ? todo : { ...todo, check })),
  );
}

function isSettled({ status }: CheckedTodo): boolean {
  return status === "completed";
}
