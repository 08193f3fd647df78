/** Brings the ends of background tasks into the thread that started them, each once. */
import type { BaseMessage } from "@langchain/core/messages";
import { treeOf } from "../../backends/run-tree.ts";
import { type AsyncTask, isLive, tasksIn } from "./async-task.ts";
import { type AsyncTeam, threadOf } from "./async-team.ts";
import { mailboxOf } from "./host.ts";
import { type MailboxMessage, mailMessage } from "./mailbox.ts";

type State = Record<string, unknown>;
type Configurable = Record<string, unknown> | undefined;

/**
 * The update for a thread that has mail. What was told is noted in the same update, so that a message that comes again
 * after a crash is known; it is taken out of the mailbox only then.
 */
export async function takeMail(
  team: AsyncTeam,
  state: State,
  configurable: Configurable,
): Promise<State | undefined> {
  const threadId = ownThread(configurable);
  if (threadId === undefined) return undefined;
  const tasks = tasksIn(state);
  // Those that an earlier process has started are watched from here on.
  for (const task of Object.values(tasks)) if (isLive(task.status)) team.watch(task, configurable);
  const mailbox = mailboxOf(configurable);
  const mail = await mailbox.unread(threadId);
  if (mail.length === 0) return undefined;
  const ids = new Set((state.messages as readonly BaseMessage[] | undefined)?.map(({ id }) => id));
  const fresh = mail.filter((message) => !ids.has(message.id) && isNews(tasks[message.taskId], message));
  const told = mail.filter((message) => !fresh.includes(message)).map(({ id }) => id);
  if (told.length > 0) await mailbox.acknowledge(threadId, told);
  if (fresh.length === 0) return undefined;
  return { messages: fresh.map(mailMessage), asyncTasks: noted(fresh, tasks) };
}

/** Takes what the thread holds by now out of the mailbox. */
export async function acknowledgeMail(state: State, configurable: Configurable): Promise<void> {
  const threadId = ownThread(configurable);
  if (threadId === undefined) return;
  const tasks = tasksIn(state);
  const mailbox = mailboxOf(configurable);
  const told = (await mailbox.unread(threadId)).filter((message) => isTold(tasks[message.taskId], message));
  if (told.length > 0)
    await mailbox.acknowledge(
      threadId,
      told.map(({ id }) => id),
    );
}

/** Mail is for the agent of the thread, not for the children inside its runs. */
function ownThread(configurable: Configurable): string | undefined {
  return treeOf({ configurable }).agentPath.length > 0 ? undefined : threadOf(configurable);
}

/** Not what the thread knows nothing of any more, nor of a run whose place another has taken. */
function isNews(task: AsyncTask | undefined, message: MailboxMessage): boolean {
  return task?.runId === message.runId && !isTold(task, message);
}

function isTold(task: AsyncTask | undefined, { runId }: MailboxMessage): boolean {
  return task?.toldRunId === runId;
}

function noted(mail: readonly MailboxMessage[], tasks: Readonly<Record<string, AsyncTask>>): State {
  const news: Record<string, AsyncTask> = {};
  for (const { taskId, runId, status } of mail) {
    const task = tasks[taskId];
    if (task !== undefined) news[taskId] = { ...task, status, toldRunId: runId };
  }
  return news;
}
