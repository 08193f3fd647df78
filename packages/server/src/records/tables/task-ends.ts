/**
 * Ends tasks that one thread does for another, and reports their ends to the parent.
 *
 * Every change of a task takes the lock of the parent thread first, then the lock of the task's thread. Locks are taken
 * from the top of a tree down, so there are no deadlocks.
 */

import type { NewEvent, RunRecord } from "../records.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { insertMail } from "./mail.ts";
import { cancelRemoteTasksOf, hasOpenRemoteTasks } from "./remote-tasks.ts";
import { lockThread, runColumns, storedRun } from "./run-row.ts";
import { cancelRun } from "./start-run.ts";

/** The log of a run that was to end before it began. */
const END_OF_UNBEGUN: readonly NewEvent[] = [
  { event: "end", data: JSON.stringify({ status: "interrupted" }) },
];

/** The thread a task on this one is done for; to be locked first. */
export async function lockParent(
  database: Database,
  session: SqlSession,
  threadId: string,
): Promise<string | undefined> {
  const [task] = await session.all("SELECT parent FROM dw_srv_tasks WHERE thread_id = $1", [threadId]);
  if (task === undefined) return undefined;
  const isThere = await lockThread(database, session, task.parent as string);
  return isThere ? (task.parent as string) : undefined;
}

/**
 * Under the locks of both threads, when a run has ended: tells the parent, if the task has ended with it. It has not
 * while anything of it goes on or is sure to: a run, a task below it, mail that a run will be begun for.
 */
export async function endTask(
  session: SqlSession,
  parent: string,
  threadId: string,
  status: string,
): Promise<void> {
  const [task] = await session.all("SELECT * FROM dw_srv_tasks WHERE thread_id = $1 AND state <> 'over'", [
    threadId,
  ]);
  if (task === undefined || (await goesOn(session, threadId, status))) return;
  const ends = (task.ends as number) + 1;
  await session.run("UPDATE dw_srv_tasks SET state = $1, status = $2, ends = $3 WHERE thread_id = $4", [
    status === "interrupted" ? "waits" : "over",
    status,
    ends,
    threadId,
  ]);
  const { run_id: runId, agent: agentName } = task as SqlRow;
  const id = `async-task-${threadId}-${runId}${ends > 1 ? `-${ends}` : ""}`;
  const message = JSON.stringify({ taskId: threadId, runId, agentName, status });
  await insertMail(session, parent, { id, kind: "task-end", message }, id);
}

/** Whether anything of it goes on, or is sure to, when a run has ended like this. */
export async function goesOn(session: SqlSession, threadId: string, status: string): Promise<boolean> {
  const some = async (sql: string) => (await session.all(sql, [threadId])).length > 0;
  if (await some("SELECT 1 AS one FROM dw_srv_runs WHERE thread_id = $1 AND open = 1 LIMIT 1")) return true;
  // After any other end the task is over: later runs for tasks below it are not reported to the parent.
  if (status !== "success") return false;
  return (
    (await some("SELECT 1 AS one FROM dw_srv_mail WHERE thread_id = $1 AND message IS NOT NULL LIMIT 1")) ||
    (await some("SELECT 1 AS one FROM dw_srv_tasks WHERE parent = $1 AND state = 'open' LIMIT 1")) ||
    (await hasOpenRemoteTasks(session, threadId))
  );
}

/** Ends a task with all tasks below it, without messages. Returns their runs as they are now. */
export async function cancelTask(
  database: Database,
  session: SqlSession,
  threadId: string,
  now: number,
): Promise<RunRecord[]> {
  await lockThread(database, session, threadId);
  await session.run(
    "UPDATE dw_srv_tasks SET state = 'over', status = 'cancelled' WHERE thread_id = $1 AND state <> 'over'",
    [threadId],
  );
  return cancelWorkOn(database, session, threadId, now);
}

/**
 * Like `cancelTask`, for any thread. If the thread does a task itself, that task ends too, and its parent gets a
 * message, because the parent did not ask for the end.
 */
export async function stopThread(
  database: Database,
  session: SqlSession,
  threadId: string,
  now: number,
): Promise<RunRecord[]> {
  const parent = await lockParent(database, session, threadId);
  await lockThread(database, session, threadId);
  const ended = await cancelWorkOn(database, session, threadId, now);
  if (parent !== undefined) await endTask(session, parent, threadId, "cancelled");
  return ended;
}

/** Under the lock of the thread. */
async function cancelWorkOn(
  database: Database,
  session: SqlSession,
  threadId: string,
  now: number,
): Promise<RunRecord[]> {
  // Waiting mail, and ends of tasks below it, must not begin a run on it.
  await session.run("UPDATE dw_srv_mail SET message = NULL WHERE thread_id = $1 AND message IS NOT NULL", [
    threadId,
  ]);
  const ended: RunRecord[] = [];
  const open = await session.all(
    `SELECT ${runColumns(database)} FROM dw_srv_runs WHERE thread_id = $1 AND open = 1 ORDER BY sequence`,
    [threadId],
  );
  for (const row of open)
    ended.push(await cancelRun(database, session, storedRun(row), "interrupt", END_OF_UNBEGUN, now));
  return [...ended, ...(await cancelTasksOf(database, session, threadId, now))];
}

/** Under the lock of the parent. */
export async function cancelTasksOf(
  database: Database,
  session: SqlSession,
  parent: string,
  now: number,
): Promise<RunRecord[]> {
  await cancelRemoteTasksOf(database, session, parent);
  const ended: RunRecord[] = [];
  const below = await session.all(
    "SELECT thread_id FROM dw_srv_tasks WHERE parent = $1 AND state <> 'over' ORDER BY thread_id",
    [parent],
  );
  for (const row of below) ended.push(...(await cancelTask(database, session, row.thread_id as string, now)));
  return ended;
}
