/** Whether a thread has to be told of the end of one of its background tasks. */
import { type AsyncTask, isAsyncTaskNews } from "deepwright";
import type { AnyGraph } from "../agents/bind-agent.ts";
import type { MailRecords, RunRecord, ServerRecords } from "../records/records.ts";
import { taskEndOf } from "./task-host.ts";

/** Whether the agent has a list of its background tasks, and reads of their ends. */
export function keepsTasks(agent: AnyGraph): boolean {
  return Object.hasOwn((agent as { channels?: object }).channels ?? {}, "asyncTasks");
}

/** Whether one has ended that the thread does not know of; such mail as it knows goes. */
export async function hasTaskNews(mail: MailRecords, agent: AnyGraph, threadId: string): Promise<boolean> {
  if (!keepsTasks(agent)) return false;
  const ends = (await mail.waiting(threadId, ["task-end"])).map(taskEndOf);
  if (ends.length === 0) return false;
  const { values } = await agent.getState({ configurable: { thread_id: threadId } });
  const known = ends.filter((end) => !isAsyncTaskNews(values ?? {}, end)).map(({ id }) => id);
  if (known.length > 0) await mail.settle(threadId, known);
  return known.length < ends.length;
}

const END_ID = "async-task-";

/**
 * Whether a run was begun to say nothing but the ends of tasks, and its thread knows of them: who did the task tells it
 * itself, and whoever looked was faster. If not, it is time to look.
 */
export async function isToldAlready(
  { background }: Pick<ServerRecords, "background">,
  agent: AnyGraph,
  { owner, thread_id }: RunRecord,
  input: unknown,
): Promise<boolean> {
  const { messages } = (input ?? {}) as { messages?: unknown };
  const ids = [messages ?? []].flat().map((message) => (message as { id?: unknown } | null)?.id);
  const isOnlyThat = ids.length > 0 && ids.every((id) => typeof id === "string" && id.startsWith(END_ID));
  if (!isOnlyThat || !keepsTasks(agent)) return false;
  const { values } = await agent.getState({ configurable: { thread_id } });
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
