/** Runs as tasks of A2A: the thread is the context, and a run and the answers to its questions are one task. Pure. */
import type { WaitingInterrupt } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import type { RunHead } from "../records/contract/run-records.ts";

/** Key in the metadata of a run that answers a question of a task. */
export const TASK_KEY = "a2a_task";

export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: TaskState; readonly message?: object; readonly timestamp: string };
  readonly artifacts?: readonly object[];
}

export type TaskState =
  `TASK_STATE_${"SUBMITTED" | "WORKING" | "COMPLETED" | "FAILED" | "CANCELED" | "INPUT_REQUIRED"}`;

export const taskIdOf = ({ run_id, metadata }: Pick<RunHead, "run_id" | "metadata">): string =>
  typeof metadata[TASK_KEY] === "string" ? metadata[TASK_KEY] : run_id;

export type TaskRun = Pick<RunHead, "run_id" | "thread_id" | "metadata" | "status" | "updated_at" | "error">;

export interface TaskFacts {
  readonly run: TaskRun;
  readonly waiting: readonly Pick<WaitingInterrupt, "id" | "value">[];
  /** The text of the last message of the agent; undefined: none. */
  readonly answer: string | undefined;
}

export function taskOf({ run, waiting, answer }: TaskFacts): Task {
  const { thread_id: contextId, run_id, updated_at: timestamp } = run;
  const id = taskIdOf(run);
  const state = stateOf(run.status, waiting.length > 0);
  const about = aboutState(state, run, waiting);
  const message = about && {
    messageId: `${run_id}-status`,
    contextId,
    taskId: id,
    role: "ROLE_AGENT",
    parts: [about],
  };
  return {
    id,
    contextId,
    status: { state, ...(message && { message }), timestamp },
    ...(state === "TASK_STATE_COMPLETED" &&
      answer !== undefined && {
        artifacts: [{ artifactId: `${run_id}-answer`, name: "answer", parts: [{ text: answer }] }],
      }),
  };
}

function stateOf(status: RunHead["status"], waits: boolean): TaskState {
  if (status === "pending") return "TASK_STATE_SUBMITTED";
  if (status === "running") return "TASK_STATE_WORKING";
  if (status === "success") return "TASK_STATE_COMPLETED";
  if (status === "interrupted") return waits ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_CANCELED";
  return "TASK_STATE_FAILED";
}

function aboutState(state: TaskState, run: TaskRun, waiting: TaskFacts["waiting"]): object | undefined {
  if (state === "TASK_STATE_FAILED") return { text: run.error?.message ?? "The run failed." };
  if (state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  return { data: { interrupts: waiting.map(({ id, value }) => ({ id, value })) } };
}

/** The text of the last message of a state, if the agent said it. */
export function answerIn(values: unknown): string | undefined {
  const messages = isRecord(values) && Array.isArray(values.messages) ? values.messages.filter(isRecord) : [];
  const last = messages.at(-1);
  if (last === undefined || !/^(?:ai|AIMessage)/.test(String(last.type))) return undefined;
  if (typeof last.content === "string") return last.content;
  const blocks = Array.isArray(last.content) ? last.content.filter(isRecord) : [];
  return blocks.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}
