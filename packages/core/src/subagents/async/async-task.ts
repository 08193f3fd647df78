/** The record of a task given to an async subagent, and its channel. */

import { ReducedValue } from "@langchain/langgraph";
import { z } from "zod";
import { NOT_FOR_CALLERS } from "../../internal-symbols.ts";
import { ownValue } from "../../text/own-value.ts";

/**
 * pending → running → success | error | cancelled, and running → updated → running. `timeout` and `interrupted` come
 * from servers: a time limit ended the run; it waits for a person's decision.
 */
export type AsyncTaskStatus =
  | "pending"
  | "running"
  | "updated"
  | "success"
  | "error"
  | "cancelled"
  | "timeout"
  | "interrupted";

export const ASYNC_TASK_STATUSES: readonly AsyncTaskStatus[] = [
  ...(["pending", "running", "updated", "success", "error", "cancelled", "timeout", "interrupted"] as const),
];

/** Plain JSON. Results are not in it: they are asked for. */
export interface AsyncTask {
  /** The same as `threadId`. */
  readonly taskId: string;
  readonly agentName: string;
  readonly threadId: string;
  /** The run that works on it now, or did last; an update begins another. */
  readonly runId: string;
  /** The status at the last look. */
  readonly status: AsyncTaskStatus;
  /** Times are ISO 8601. */
  readonly createdAt: string;
  /** The start of the task's text. */
  readonly description?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly checkedAt?: string | undefined;
  /** How often it was given another instruction. */
  readonly updates?: number | undefined;
  /** The run whose end was reported to the agent. */
  readonly reportedRunId?: string | undefined;
}

export type AsyncTasks = Readonly<Record<string, AsyncTask>>;

const OVER: ReadonlySet<string> = new Set<AsyncTaskStatus>(["success", "error", "cancelled", "timeout"]);

/** Whether the run has ended for good, unless it gets a new instruction. */
export function isOver(status: AsyncTaskStatus): boolean {
  return OVER.has(status);
}

/** Whether the task is being worked on, as far as is known. */
export function isLive(status: AsyncTaskStatus): boolean {
  return !OVER.has(status) && status !== "interrupted";
}

/** Merges by task: calls of one turn may report about different tasks. */
export function mergeAsyncTasks(known: AsyncTasks | undefined, news: AsyncTasks | undefined): AsyncTasks {
  if (news === undefined || news === null) return known ?? {};
  const merged: Record<string, AsyncTask> = { ...known };
  for (const [id, task] of Object.entries(news)) merged[id] = newer(ownValue(merged, id), task);
  return merged;
}

/**
 * A report about an earlier run, or an old report about a run that is over, changes nothing. A run that seemed to have
 * failed, because its server did not answer, may turn out to work.
 */
function newer(known: AsyncTask | undefined, task: AsyncTask): AsyncTask {
  if (known === undefined) return task;
  if ((task.updates ?? 0) < (known.updates ?? 0)) return known;
  const isFinal = isOver(known.status) && known.status !== "error";
  const isStale = task.runId === known.runId && isFinal && !isOver(task.status);
  const reportedRunId = task.reportedRunId ?? known.reportedRunId;
  const status = isStale ? known.status : task.status;
  return { ...task, status, ...(reportedRunId !== undefined && { reportedRunId }) };
}

export type AsyncTasksValue = ReducedValue<AsyncTasks, AsyncTasks | undefined>;

/**
 * Callers cannot set it in our loop: a task names a thread, so invented tasks would open threads of others to the
 * agent. The reducer links a compiled graph to the team of its agent (`remote-tasks.ts`).
 */
export function asyncTasksValue(reducer: typeof mergeAsyncTasks): AsyncTasksValue {
  const value = new ReducedValue(z.record(z.string(), z.any()).default({}), {
    inputSchema: z.record(z.string(), z.any()).optional(),
    reducer: reducer as never,
  });
  return Object.assign(value, { [NOT_FOR_CALLERS]: true }) as never;
}

export function tasksIn(state: Record<string, unknown> | undefined): AsyncTasks {
  const tasks = state?.asyncTasks;
  return typeof tasks === "object" && tasks !== null ? (tasks as AsyncTasks) : {};
}
