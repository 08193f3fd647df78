/** Background work of threads, as rows of the database. */
import type { Completion, RemoteTask, TaskStatus } from "../contract/background-records.ts";
import type { Owner, RunRecord } from "../records.ts";
import { callbackOf, noteAttempt, noteCompletion, takeCompletions } from "./completions.ts";
import type { Database } from "./database.ts";
import {
  endRemoteTask,
  followTask,
  forgetRemoteTask,
  lookAgain,
  type StoredRemoteTask,
  takeRemoteTasks,
} from "./remote-tasks.ts";
import { isOpen } from "./runs.ts";
import { stopThread } from "./task-ends.ts";

export function backgroundRows(database: Database) {
  const { read, write } = database;
  return {
    follow: (task: StoredRemoteTask): Promise<boolean> =>
      write((session) => followTask(database, session, task)),

    hurry: (owner: Owner, parent: string): Promise<void> =>
      write(async (session) => {
        await session.run(
          `UPDATE dw_srv_remote_tasks SET due = ${database.clock} WHERE owner = $1 AND parent = $2 AND state = 'open'`,
          [owner, parent],
        );
      }),

    forget: (owner: Owner, parent: string, taskId: string): Promise<void> =>
      write((session) => forgetRemoteTask(session, owner, parent, taskId)),

    take: (limit: number, leaseMs: number): Promise<RemoteTask[]> =>
      write((session) => takeRemoteTasks(database, session, limit, leaseMs)),

    again: (task: RemoteTask, next: { inMs: number; failed: boolean }): Promise<void> =>
      write((session) => lookAgain(database, session, task, next)),

    end: (task: RemoteTask, status: TaskStatus): Promise<boolean> =>
      write((session) => endRemoteTask(database, session, task, status)),

    stopped: ({ owner, parentThreadId, taskId }: RemoteTask): Promise<void> =>
      write((session) => forgetRemoteTask(session, owner, parentThreadId, taskId)),

    takeCompletions: (limit: number, leaseMs: number): Promise<Completion[]> =>
      write((session) => takeCompletions(database, session, limit, leaseMs)),

    noteAttempt: (completion: Completion, againInMs: number | null): Promise<void> =>
      write((session) => noteAttempt(database, session, completion, againInMs)),

    hasCompletion: (owner: Owner, threadId: string): Promise<boolean> =>
      read(async (session) => {
        const rows = await session.all(
          "SELECT 1 AS one FROM dw_srv_completions WHERE thread_id = $1 AND owner = $2",
          [threadId, owner],
        );
        return rows.length > 0;
      }),

    openOn: (owner: Owner, threadId: string): Promise<number> =>
      read(async (session) => {
        const [row] = await session.all(
          `SELECT (SELECT COUNT(*) FROM dw_srv_tasks WHERE parent = $1 AND owner = $2 AND state = 'open')
            + (SELECT COUNT(*) FROM dw_srv_remote_tasks WHERE parent = $1 AND owner = $2 AND state = 'open')
            + (SELECT COUNT(*) FROM dw_srv_mail m JOIN dw_srv_threads t ON t.thread_id = m.thread_id
              WHERE m.thread_id = $1 AND t.owner = $2 AND m.message IS NOT NULL) AS open_tasks`,
          [threadId, owner],
        );
        return Number(row?.open_tasks ?? 0);
      }),

    stop: (owner: Owner, threadId: string, now: number): Promise<RunRecord[]> =>
      write(async (session) => {
        const [own] = await session.all(
          "SELECT position FROM dw_srv_threads WHERE thread_id = $1 AND owner = $2",
          [threadId, owner],
        );
        if (own === undefined) return [];
        const runs = await stopThread(database, session, threadId, now);
        // Runs at work note it when they end.
        const last = runs.findLast((run) => run.thread_id === threadId && !isOpen(run));
        const run = { threadId, runId: last?.run_id ?? "" };
        await noteCompletion(database, session, run, last && callbackOf(last.request), "cancelled");
        return runs;
      }),
  };
}
