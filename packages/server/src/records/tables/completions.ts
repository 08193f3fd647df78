/** Completion callbacks of tasks (`createCompletionCallbackMiddleware`), as rows of the database. */
import type { ColumnTypes } from "@deepwright/checkpoint/sql";
import type { Completion } from "../contract/background-records.ts";
import { type Database, type SqlRow, type SqlSession, takeDue } from "./database.ts";
import { goesOn } from "./task-ends.ts";

/**
 * A row is a thread whose end is reported to `target`. It is `open` until everything on the thread has ended, `due`
 * until the end was reported, then `told`. It outlives its thread until then. `ends` counts the reports, `looks` the
 * attempts.
 */
export function createCompletionTables({ integer, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_completions (thread_id ${text} PRIMARY KEY, owner ${text} NOT NULL, target ${text} NOT NULL,
      run_id ${text} NOT NULL, assistant_id ${text} NOT NULL, state ${text} NOT NULL, status ${text},
      ends ${integer} NOT NULL, looks ${integer} NOT NULL, due ${integer})`,
    "CREATE INDEX dw_srv_completions_due ON dw_srv_completions (due) WHERE due IS NOT NULL",
  ];
}

/** Longer texts are no ids of threads. */
const LONGEST_ID = 256;

/** The thread to notify, if the request of the run names one. */
export function callbackOf({ input }: { readonly input?: unknown }): string | undefined {
  const { callbackThreadId: id } = (input ?? {}) as { callbackThreadId?: unknown };
  return typeof id === "string" && id !== "" && id.length <= LONGEST_ID ? id : undefined;
}

/** Runs in the transaction that ends the run. `callback`: the end of this run is reported. */
export async function noteCompletion(
  database: Database,
  session: SqlSession,
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
  callback: string | undefined,
  status: string,
): Promise<void> {
  if (callback !== undefined)
    await session.run(
      `INSERT INTO dw_srv_completions (thread_id, owner, target, run_id, assistant_id, state, ends, looks)
        SELECT thread_id, owner, $1, run_id, assistant_id, 'open', 0, 0 FROM dw_srv_runs WHERE run_id = $2
        ON CONFLICT (thread_id) DO UPDATE SET owner = excluded.owner, target = excluded.target, run_id = excluded.run_id,
          assistant_id = excluded.assistant_id, state = 'open', status = NULL, ends = 0, looks = 0, due = NULL`,
      [callback, runId],
    );
  const [open] = await session.all(
    "SELECT 1 AS one FROM dw_srv_completions WHERE thread_id = $1 AND state = 'open'",
    [threadId],
  );
  if (open === undefined || (await goesOn(session, threadId, status))) return;
  await makeDue(database, session, threadId, status);
}

/** When its thread is deleted. */
export async function endCompletion(
  database: Database,
  session: SqlSession,
  threadId: string,
): Promise<void> {
  await makeDue(database, session, threadId, "cancelled");
  await session.run("DELETE FROM dw_srv_completions WHERE thread_id = $1 AND state = 'told'", [threadId]);
}

async function makeDue(
  { clock }: Database,
  session: SqlSession,
  threadId: string,
  status: string,
): Promise<void> {
  await session.run(
    `UPDATE dw_srv_completions SET state = 'due', status = $1, ends = ends + 1, looks = 0, due = ${clock}
      WHERE thread_id = $2 AND state = 'open'`,
    [status, threadId],
  );
}

export async function takeCompletions(
  database: Database,
  session: SqlSession,
  limit: number,
  leaseMs: number,
): Promise<Completion[]> {
  const rows = await takeDue(
    database,
    session,
    { table: "dw_srv_completions", key: "thread_id" },
    { limit, leaseMs },
  );
  return rows.map(completionOf);
}

/** Stores how the attempt went. Null: reported or given up. Does nothing when another process has taken it since. */
export async function noteAttempt(
  { clock }: Database,
  session: SqlSession,
  { threadId, runId, ends, looks }: Completion,
  againInMs: number | null,
): Promise<void> {
  const mine = "thread_id = $1 AND run_id = $2 AND ends = $3 AND looks = $4 AND state = 'due'";
  const whose = [threadId, runId, ends, looks];
  if (againInMs !== null) {
    await session.run(`UPDATE dw_srv_completions SET due = ${clock} + $5 WHERE ${mine}`, [
      ...whose,
      Math.ceil(againInMs),
    ]);
    return;
  }
  // A thread that waits for a person has more to report later.
  await session.run(
    `UPDATE dw_srv_completions SET due = NULL,
      state = CASE WHEN status = 'interrupted' THEN 'open' ELSE 'told' END WHERE ${mine}`,
    whose,
  );
  await session.run(
    `DELETE FROM dw_srv_completions WHERE thread_id = $1 AND state <> 'due'
      AND NOT EXISTS (SELECT 1 FROM dw_srv_threads t WHERE t.thread_id = dw_srv_completions.thread_id)`,
    [threadId],
  );
}

function completionOf(row: SqlRow): Completion {
  return {
    owner: row.owner as string,
    threadId: row.thread_id as string,
    runId: row.run_id as string,
    assistantId: row.assistant_id as string,
    target: row.target as string,
    status: row.status as Completion["status"],
    ends: row.ends as number,
    looks: row.looks as number,
  };
}
