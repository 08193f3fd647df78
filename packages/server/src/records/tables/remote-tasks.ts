/** Tasks that other servers do for threads, as rows where the database lives. */
import type { ColumnTypes } from "@deepwright/checkpoint/sql";
import type { RemoteTask, TaskStatus } from "../contract/background-records.ts";
import { type Database, type SqlRow, type SqlSession, takeDue } from "./database.ts";
import { insertMail } from "./mail.ts";
import { lockThread } from "./run-row.ts";

/**
 * A row outlives its end, so that a run is followed once; a row to be cancelled outlives its parent. `due` is null when
 * nothing needs to look at it. `looks` counts the lookers since the task was given, `ends` the reports to the parent.
 */
export function createRemoteTaskTables({ id, integer, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_remote_tasks (position ${id}, owner ${text} NOT NULL, parent ${text} NOT NULL,
      task_id ${text} NOT NULL, run_id ${text} NOT NULL, agent ${text} NOT NULL, graph_id ${text} NOT NULL,
      state ${text} NOT NULL, status ${text}, ends ${integer} NOT NULL, looks ${integer} NOT NULL,
      failures ${integer} NOT NULL, due ${integer}, UNIQUE (parent, task_id))`,
    "CREATE INDEX dw_srv_remote_tasks_due ON dw_srv_remote_tasks (due) WHERE due IS NOT NULL",
  ];
}

/** A `NewRemoteTask` as the database takes it. */
export interface StoredRemoteTask {
  readonly owner: string;
  readonly parent: string;
  readonly giverRunId: string;
  readonly giverFence: number;
  readonly taskId: string;
  readonly runId: string;
  readonly agentName: string;
  readonly graphId: string;
  readonly lookInMs: number;
}

/** Only the run at work on the parent gives tasks, as in `tasks.ts`. */
export async function followTask(
  database: Database,
  session: SqlSession,
  task: StoredRemoteTask,
): Promise<boolean> {
  await lockThread(database, session, task.parent);
  const working = await session.all(
    `SELECT position FROM dw_srv_runs WHERE run_id = $1 AND fence = $2 AND owner = $3 AND status = 'running'
      AND cancel IS NULL`,
    [task.giverRunId, task.giverFence, task.owner],
  );
  if (working.length === 0) return false;
  await session.run(
    `INSERT INTO dw_srv_remote_tasks (owner, parent, task_id, run_id, agent, graph_id, state, ends, looks, failures, due)
      VALUES ($1, $2, $3, $4, $5, $6, 'open', 0, 0, 0, ${database.clock} + $7)
      ON CONFLICT (parent, task_id) DO UPDATE SET run_id = excluded.run_id, agent = excluded.agent,
        graph_id = excluded.graph_id, state = 'open', status = NULL, ends = 0, looks = 0, failures = 0,
        due = excluded.due WHERE dw_srv_remote_tasks.run_id <> excluded.run_id`,
    [
      task.owner,
      task.parent,
      task.taskId,
      task.runId,
      task.agentName,
      task.graphId,
      Math.ceil(task.lookInMs),
    ],
  );
  return true;
}

export async function takeRemoteTasks(
  database: Database,
  session: SqlSession,
  limit: number,
  leaseMs: number,
): Promise<RemoteTask[]> {
  const rows = await takeDue(
    database,
    session,
    { table: "dw_srv_remote_tasks", key: "position" },
    { limit, leaseMs },
  );
  return rows.map(remoteTaskOf);
}

export async function lookAgain(
  { clock }: Database,
  session: SqlSession,
  { parentThreadId, taskId, runId, looks }: RemoteTask,
  { inMs, failed }: { readonly inMs: number; readonly failed: boolean },
): Promise<void> {
  await session.run(
    `UPDATE dw_srv_remote_tasks SET due = ${clock} + $1, failures = CASE WHEN $2 = 1 THEN failures + 1 ELSE 0 END
      WHERE parent = $3 AND task_id = $4 AND run_id = $5 AND looks = $6 AND state <> 'over'`,
    [Math.ceil(inMs), failed ? 1 : 0, parentThreadId, taskId, runId, looks],
  );
}

/** The pause between looks at a task that waits for a person. */
const WAITING_MS = 30_000;

/** The same letter as of a task of this server (`task-ends.ts`). */
export async function endRemoteTask(
  database: Database,
  session: SqlSession,
  { parentThreadId: parent, taskId, runId }: RemoteTask,
  status: TaskStatus,
): Promise<boolean> {
  if (!(await lockThread(database, session, parent))) return false;
  const [row] = await session.all(
    `UPDATE dw_srv_remote_tasks SET state = $1, status = $2, ends = ends + 1, failures = 0,
      due = CASE WHEN $1 = 'over' THEN NULL ELSE ${database.clock} + ${WAITING_MS} END
      WHERE parent = $3 AND task_id = $4 AND run_id = $5 AND state IN ('open', 'waits') AND COALESCE(status, '') <> $2
      RETURNING *`,
    [status === "interrupted" ? "waits" : "over", status, parent, taskId, runId],
  );
  if (row === undefined) return false;
  const id = `async-task-${taskId}-${runId}${(row.ends as number) > 1 ? `-${row.ends}` : ""}`;
  const message = JSON.stringify({ taskId, runId, agentName: row.agent, status });
  return insertMail(session, parent, { id, kind: "task-end", message }, id);
}

export async function forgetRemoteTask(
  session: SqlSession,
  owner: string,
  parent: string,
  taskId: string,
): Promise<void> {
  await session.run(
    `UPDATE dw_srv_remote_tasks SET state = 'over', status = 'cancelled', due = NULL
      WHERE owner = $1 AND parent = $2 AND task_id = $3`,
    [owner, parent, taskId],
  );
  await session.run(
    `DELETE FROM dw_srv_remote_tasks WHERE parent = $1 AND task_id = $2
      AND NOT EXISTS (SELECT 1 FROM dw_srv_threads t WHERE t.thread_id = dw_srv_remote_tasks.parent)`,
    [parent, taskId],
  );
}

/** Under the lock of the parent: the next process that takes the tasks ends them where they are. */
export async function cancelRemoteTasksOf(
  { clock }: Database,
  session: SqlSession,
  parent: string,
): Promise<void> {
  await session.run(
    `UPDATE dw_srv_remote_tasks SET state = 'cancel', looks = 0, failures = 0, due = ${clock}
      WHERE parent = $1 AND state IN ('open', 'waits')`,
    [parent],
  );
}

export async function hasOpenRemoteTasks(session: SqlSession, parent: string): Promise<boolean> {
  const rows = await session.all(
    "SELECT 1 AS one FROM dw_srv_remote_tasks WHERE parent = $1 AND state = 'open' LIMIT 1",
    [parent],
  );
  return rows.length > 0;
}

function remoteTaskOf(row: SqlRow): RemoteTask {
  return {
    owner: row.owner as string,
    parentThreadId: row.parent as string,
    taskId: row.task_id as string,
    runId: row.run_id as string,
    agentName: row.agent as string,
    graphId: row.graph_id as string,
    state: row.state as RemoteTask["state"],
    looks: row.looks as number,
    failures: row.failures as number,
  };
}
