/** Threads that do tasks of other threads, as rows where the database lives. */

import type { NewRun, Owner, RunRecord, StartedRun, TaskRecord } from "../records.ts";
import type { ClaimKey } from "./claim-run.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { lockThread } from "./run-row.ts";
import { startRun } from "./start-run.ts";
import { cancelTask } from "./task-ends.ts";
import { type NewThread, putThread } from "./threads.ts";

/** A `NewTask` as the database takes it. */
export interface StoredTask {
  readonly giver: ClaimKey;
  readonly agentName: string;
  readonly thread: NewThread | undefined;
  readonly run: NewRun;
}

export function taskRows(database: Database) {
  return {
    begin: (task: StoredTask, now: number): Promise<StartedRun> =>
      database.write((session) => beginTask(database, session, task, now)),

    get: (owner: Owner, threadId: string): Promise<TaskRecord | undefined> =>
      database.read(async (session) => {
        const rows = await session.all("SELECT * FROM dw_srv_tasks WHERE thread_id = $1 AND owner = $2", [
          threadId,
          owner,
        ]);
        return rows.map(taskOf)[0];
      }),

    cancel: (owner: Owner, threadId: string, now: number): Promise<RunRecord[]> =>
      database.write(async (session) => {
        const [task] = await session.all(
          "SELECT parent FROM dw_srv_tasks WHERE thread_id = $1 AND owner = $2",
          [threadId, owner],
        );
        if (task === undefined) return [];
        await lockThread(database, session, task.parent as string);
        return cancelTask(database, session, threadId, now);
      }),
  };
}

/** Only the run at work on the parent gives tasks: not a run that lost it, nor one that was ended. */
async function beginTask(
  database: Database,
  session: SqlSession,
  { giver, agentName, thread, run }: StoredTask,
  now: number,
): Promise<StartedRun> {
  await lockThread(database, session, giver.threadId);
  const working = await session.all(
    `SELECT position FROM dw_srv_runs WHERE run_id = $1 AND fence = $2 AND owner = $3 AND status = 'running'
      AND cancel IS NULL`,
    [giver.runId, giver.fence, run.owner],
  );
  if (working.length === 0) return { kind: "busy" };
  if (thread && (await putThread(database, session, run.owner, thread, "do_nothing")) === "exists")
    return { kind: "no-thread" };
  const [known] = await session.all("SELECT parent FROM dw_srv_tasks WHERE thread_id = $1", [run.threadId]);
  if (thread === undefined ? known?.parent !== giver.threadId : known && known.parent !== giver.threadId)
    return { kind: "no-thread" };
  const started = await startRun(database, session, run, now);
  if (started.kind !== "created") return started;
  await session.run(
    `INSERT INTO dw_srv_tasks (thread_id, owner, parent, agent, run_id, state, ends)
      VALUES ($1, $2, $3, $4, $5, 'open', 0)
      ON CONFLICT (thread_id) DO UPDATE SET run_id = excluded.run_id, state = 'open', status = NULL`,
    [run.threadId, run.owner, giver.threadId, agentName, started.run.run_id],
  );
  return started;
}

function taskOf(row: SqlRow): TaskRecord {
  return {
    threadId: row.thread_id as string,
    parentThreadId: row.parent as string,
    agentName: row.agent as string,
    runId: row.run_id as string,
    state: row.state as TaskRecord["state"],
    status: row.status as TaskRecord["status"],
  };
}
