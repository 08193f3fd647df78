/** Whether a thread needs a message about the end of one of its background tasks. */

import { type AsyncTask, isAsyncTaskNews } from "deepwright";
import type { AnyGraph } from "../../agents/graph-types.ts";
import type {
  MailRecords,
  RunRecord,
  ServerRecords,
  ThreadRecord,
  WaitingMail,
} from "../../records/records.ts";
import { BACKGROUND_KINDS } from "../../records/tables/mail.ts";
import { readState } from "../state/read-state.ts";
import { taskEndOf } from "./task-mail.ts";

/** Whether the agent has a list of its background tasks, and reads of their ends. */
export function keepsTasks(agent: AnyGraph): boolean {
  return Object.hasOwn((agent as { channels?: object }).channels ?? {}, "asyncTasks");
}

/** Whether a task has ended that the thread does not know of. Mail that it knows is removed. */
export async function hasTaskNews(mail: MailRecords, agent: AnyGraph, threadId: string): Promise<boolean> {
  if (!keepsTasks(agent)) return false;
  const ends = (await mail.waiting(threadId, ["task-end"])).map(taskEndOf);
  if (ends.length === 0) return false;
  const { values } = await readState(agent, { configurable: { thread_id: threadId } });
  const known = ends.filter((end) => !isAsyncTaskNews(values ?? {}, end)).map(({ id }) => id);
  if (known.length > 0) await mail.settle(threadId, known);
  return known.length < ends.length;
}

/**
 * Whether a thread with a failed last run needs a run for the end of a task: the end came after that run began, and the
 * thread does not know of it. Mail that it knows is removed.
 */
export async function hasUnheardEnd(
  mail: MailRecords,
  { thread_id: threadId, values }: Pick<ThreadRecord, "thread_id" | "values">,
  lastRun: number,
): Promise<boolean> {
  const ends = await mail.waiting(threadId, BACKGROUND_KINDS);
  const known = ends.filter((end) => isHeard(values ?? {}, end));
  if (known.length > 0)
    await mail.settle(
      threadId,
      known.map(({ id }) => id),
    );
  return ends.some((end) => end.afterRun >= lastRun && !known.includes(end));
}

function isHeard(values: Record<string, unknown>, end: WaitingMail): boolean {
  // The agent has a list of its tasks.
  if (end.kind === "task-end" && values.asyncTasks !== undefined)
    return !isAsyncTaskNews(values, taskEndOf(end));
  const messages = Array.isArray(values.messages) ? (values.messages as { id?: unknown }[]) : [];
  return messages.some(({ id }) => id === end.id);
}

const END_ID = "async-task-";

/**
 * Whether a run was begun only to report ends of tasks that its thread knows already: the task reported its end itself,
 * and another process was faster. If not, the mail has to be read.
 */
export async function isKnownToThread(
  { background }: Pick<ServerRecords, "background">,
  agent: AnyGraph,
  { owner, thread_id }: RunRecord,
  input: unknown,
): Promise<boolean> {
  const { messages } = (input ?? {}) as { messages?: unknown };
  const ids = [messages ?? []].flat().map((message) => (message as { id?: unknown } | null)?.id);
  const isOnlyThat = ids.length > 0 && ids.every((id) => typeof id === "string" && id.startsWith(END_ID));
  if (!isOnlyThat || !keepsTasks(agent)) return false;
  const { values } = await readState(agent, { configurable: { thread_id } });
  if ((ids as string[]).every((id) => isKnown(values ?? {}, id))) return true;
  await background.hurry(owner, thread_id);
  return false;
}

function isKnown(values: { asyncTasks?: Record<string, AsyncTask> }, id: string): boolean {
  const task = Object.values(values.asyncTasks ?? {}).find((each) => id.startsWith(endIdOf(each)));
  if (task === undefined) return false;
  const { taskId, runId, agentName, status } = task;
  return !isAsyncTaskNews(values, { id, taskId, runId, agentName, status, text: "" });
}

const endIdOf = ({ taskId, runId }: AsyncTask): string => `${END_ID}${taskId}-${runId}`;
