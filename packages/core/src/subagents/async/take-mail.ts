/** Brings the ends of background tasks into the thread that started them, each once. */
import type { BaseMessage } from "@langchain/core/messages";
import { treeOf } from "../../backends/run-tree.ts";
import { ownValue } from "../../text/own-value.ts";
import { type AsyncTask, isLive, isOver, tasksIn } from "./async-task.ts";
import { type AsyncTeam, threadOf } from "./async-team.ts";
import { mailboxOf } from "./host.ts";
import { type MailboxMessage, mailMessage } from "./mailbox.ts";

type State = Record<string, unknown>;
type Configurable = Record<string, unknown> | undefined;

/**
 * The state update for a thread that has mail. The same update notes which messages were delivered, so a message that
 * comes again after a crash is recognised. Messages leave the mailbox only after that.
 */
export async function takeMail(
  team: AsyncTeam,
  state: State,
  configurable: Configurable,
): Promise<State | undefined> {
  const threadId = ownThread(configurable);
  if (threadId === undefined) return undefined;
  const tasks = tasksIn(state);
  // Tasks that an earlier process started are watched from here on.
  const live = Object.values(tasks).filter(({ status }) => isLive(status));
  // A run that was ended meanwhile is no longer the one to see to it.
  await Promise.allSettled(live.map((task) => team.watch(task, configurable)));
  const mailbox = mailboxOf(configurable);
  const mail = await mailbox.unread(threadId);
  if (mail.length === 0) return undefined;
  const ids = idsIn(state);
  const fresh = mail.filter(
    (message) => !ids.has(message.id) && isNews(ownValue(tasks, message.taskId), message),
  );
  const told = mail.filter((message) => !fresh.includes(message)).map(({ id }) => id);
  if (told.length > 0) await mailbox.acknowledge(threadId, told);
  if (fresh.length === 0) return undefined;
  return { messages: fresh.map(mailMessage), asyncTasks: noted(fresh, tasks) };
}

/** Removes the messages from the mailbox that the thread already has. */
export async function acknowledgeMail(state: State, configurable: Configurable): Promise<void> {
  const threadId = ownThread(configurable);
  if (threadId === undefined) return;
  const tasks = tasksIn(state);
  const mailbox = mailboxOf(configurable);
  const told = (await mailbox.unread(threadId)).filter((message) =>
    isReported(ownValue(tasks, message.taskId), message),
  );
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

/** Whether the message is new for a thread in this state: for hosts that begin a run to report it. */
export function isTaskNews(state: State, message: MailboxMessage): boolean {
  return isNews(ownValue(tasksIn(state), message.taskId), message) && !idsIn(state).has(message.id);
}

/** A task that reports its own end may have put the message there. */
function idsIn({ messages }: State): ReadonlySet<string | undefined> {
  return new Set((messages as readonly BaseMessage[] | undefined)?.map(({ id }) => id));
}

/** False for a task that the thread no longer knows, and for a run that another one has replaced. */
function isNews(task: AsyncTask | undefined, message: MailboxMessage): boolean {
  return task?.runId === message.runId && !isReported(task, message);
}

/** A task that waited for a person when it was reported has more to report. */
function isReported(task: AsyncTask | undefined, { runId, status }: MailboxMessage): boolean {
  return task?.reportedRunId === runId && (isOver(task.status) || task.status === status);
}

function noted(mail: readonly MailboxMessage[], tasks: Readonly<Record<string, AsyncTask>>): State {
  const news: Record<string, AsyncTask> = {};
  for (const { taskId, runId, status } of mail) {
    const task = ownValue(tasks, taskId);
    if (task !== undefined) news[taskId] = { ...task, status, reportedRunId: runId };
  }
  return news;
}
