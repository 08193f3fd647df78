/** Claims on runs: one worker at a time, in the order of the thread, under a fence that only grows. */
import { isProcessGone } from "deepwright/process-identity";
import type { NewEvent, RunClaim, RunRecord, WaitingRuns } from "../records.ts";
import { noteCompletion } from "./completions.ts";
import type { Database, SqlSession } from "./database.ts";
import { insertHook } from "./hooks.ts";
import {
  hasRunOut,
  insertNumbered,
  lockThread,
  numbered,
  runColumns,
  type StoredRun,
  stallOf,
  storedRun,
} from "./run-row.ts";
import { endTask, lockParent } from "./task-ends.ts";

/** A run and the fence of its claim. */
export interface ClaimKey {
  readonly runId: string;
  readonly threadId: string;
  readonly fence: number;
}

/** A `RunEnd` as text. */
export interface StoredEnd {
  readonly status: string;
  readonly error: string | null;
  readonly outcome: string | null;
  readonly threadStatus: string;
  /** Undefined keeps the stored value. */
  readonly values: string | null | undefined;
  readonly interrupts: string | undefined;
  /** Title in the values. */
  readonly title: string | null;
  readonly words: string | null;
  readonly task: string;
  /** The thread that is to hear of it. */
  readonly callback: string | undefined;
  readonly webhook: { readonly url: string; readonly body: string } | undefined;
}

/** `token` identifies this call: repeated after a lost answer, it gets the same claim. */
export async function claimNext(
  database: Database,
  session: SqlSession,
  threadId: string,
  worker: string,
  ttlMs: number,
  token: string,
): Promise<RunClaim | undefined> {
  const [thread] = await session.all(
    `SELECT last_fence, (SELECT COUNT(*) FROM dw_srv_tasks k WHERE k.thread_id = t.thread_id) AS tasks
      FROM dw_srv_threads t WHERE thread_id = $1${database.lock}`,
    [threadId],
  );
  if (thread === undefined) return undefined;
  const next = await nextRun(database, session, threadId, token);
  if (next === undefined) return undefined;
  const isTask = Number(thread.tasks) > 0;
  if (next.token === token) return { run: next.run, fence: next.fence, isTask, stalled: next.stalled };
  const fence = (thread.last_fence as number) + 1;
  const [row] = await session.all(
    `UPDATE dw_srv_runs SET status = 'running', attempts = attempts + 1, worker = $1, token = $2, fence = $3,
      claim_expires = ${database.claimClock} + CAST($4 AS BIGINT), claim_ttl = $4 WHERE position = $5 RETURNING ${runColumns(database)}`,
    [worker, token, fence, Math.ceil(ttlMs), next.position],
  );
  await session.run("UPDATE dw_srv_threads SET last_fence = $1 WHERE thread_id = $2", [fence, threadId]);
  return row && { run: storedRun(row).run, fence, isTask, stalled: stallOf(row) };
}

/**
 * The run at work if it is abandoned, or was claimed by this very call; else a run that was given back, because no
 * other may work in between; else the first that may begin.
 */
async function nextRun(
  database: Database,
  session: SqlSession,
  threadId: string,
  token: string,
): Promise<StoredRun | undefined> {
  const rows = await session.all(
    `SELECT ${runColumns(database)} FROM dw_srv_runs
      WHERE thread_id = $1 AND open = 1 AND (status = 'running' OR not_before <= ${database.clock})
      ORDER BY CASE WHEN status = 'running' THEN 0 WHEN last_event > 0 THEN 1 ELSE 2 END, sequence LIMIT 1`,
    [threadId],
  );
  const [first] = rows.map(storedRun);
  if (first?.run.status !== "running") return first;
  return first.abandoned || first.token === token ? first : undefined;
}

/** An expired claim can be renewed if no other worker has taken the run. */
export async function keepClaim(
  database: Database,
  session: SqlSession,
  { runId, fence }: ClaimKey,
  ttlMs: number,
): Promise<RunRecord | undefined> {
  const [row] = await session.all(
    `UPDATE dw_srv_runs SET claim_expires = ${database.claimClock} + CAST($1 AS BIGINT), claim_ttl = $1
      WHERE run_id = $2 AND fence = $3 AND status = 'running' RETURNING ${runColumns(database)}`,
    [Math.ceil(ttlMs), runId, fence],
  );
  return row && storedRun(row).run;
}

/** `first` is where the thread stood before the first attempt, `head` where it stands now. */
export async function noteStall(
  session: SqlSession,
  { runId, fence }: ClaimKey,
  first: string,
  head: string,
): Promise<number | undefined> {
  const [row] = await session.all(
    `UPDATE dw_srv_runs SET stalled_at = $1,
      stalled_from = CASE WHEN COALESCE(stalled_at, CAST($2 AS TEXT)) = $1 THEN stalled_from ELSE attempts END
      WHERE run_id = $3 AND fence = $4 AND status = 'running' RETURNING attempts, stalled_from`,
    [head, first, runId, fence],
  );
  return row && stallOf(row);
}

/** `batch` identifies this call: repeated after a lost answer, it is not refused. */
export async function finishRun(
  database: Database,
  session: SqlSession,
  { runId, threadId, fence }: ClaimKey,
  end: StoredEnd,
  events: readonly NewEvent[],
  batch: string,
  now: number,
): Promise<boolean> {
  const parent = await lockParent(database, session, threadId);
  await lockThread(database, session, threadId);
  const [row] = await session.all(
    `UPDATE dw_srv_runs SET status = $1, error = $2, open = 0, ended_at = $3, updated_at = $3, batch = $4,
      last_event = last_event + $5, outcome = $8 WHERE run_id = $6 AND fence = $7 AND status = 'running'
      RETURNING position, last_event`,
    [end.status, end.error, now, batch, events.length, runId, fence, end.outcome],
  );
  if (row === undefined) {
    const done = await session.all("SELECT position FROM dw_srv_runs WHERE run_id = $1 AND batch = $2", [
      runId,
      batch,
    ]);
    return done.length > 0;
  }
  const after = (row.last_event as number) - events.length;
  await insertNumbered(database, session, numbered(row.position as number, after, events));
  await showEnd(session, threadId, end, now);
  if (end.webhook) await insertHook(database, session, runId, end.webhook, now);
  if (parent !== undefined) await endTask(session, parent, threadId, end.task);
  await noteCompletion(database, session, { threadId, runId }, end.callback, end.task);
  return true;
}

async function showEnd(session: SqlSession, threadId: string, end: StoredEnd, now: number): Promise<void> {
  const params: (string | number | null)[] = [threadId, end.threadStatus, now, end.error];
  const changes = ["status = $2", "updated_at = $3", "error = $4"];
  if (end.values !== undefined)
    changes.push(
      `state_updated_at = $3, state_values = $${params.push(end.values)}`,
      `title = COALESCE(title, $${params.push(end.title)}), words = $${params.push(end.words)}`,
    );
  if (end.interrupts !== undefined) changes.push(`interrupts = $${params.push(end.interrupts)}`);
  await session.run(`UPDATE dw_srv_threads SET ${changes.join(", ")} WHERE thread_id = $1`, params);
}

export async function releaseRun(
  session: SqlSession,
  { runId, fence }: ClaimKey,
  now: number,
): Promise<void> {
  await session.run(
    `UPDATE dw_srv_runs SET status = 'pending', attempts = attempts - 1, worker = NULL, token = NULL,
      claim_expires = 0, updated_at = $1 WHERE run_id = $2 AND fence = $3 AND status = 'running'`,
    [now, runId, fence],
  );
}

export async function threadsToWakeUp(
  database: Database,
  session: SqlSession,
  limit: number,
): Promise<string[]> {
  const { clock } = database;
  const rows = await session.all(
    `SELECT thread_id FROM dw_srv_runs r WHERE r.open = 1 AND (
      (r.status = 'running' AND (${hasRunOut(database)} OR r.worker ${database.among("$2")}))
      OR (r.status = 'pending' AND r.not_before <= ${clock} AND NOT EXISTS (SELECT 1 FROM dw_srv_runs o
        WHERE o.thread_id = r.thread_id AND o.open = 1
        AND (o.status = 'running' OR (o.sequence < r.sequence AND o.not_before <= ${clock})))))
      ORDER BY r.position LIMIT $1`,
    [Math.max(0, limit), database.list(await goneWorkers(session))],
  );
  return rows.map((row) => row.thread_id as string);
}

export async function waitingRuns({ clock, read }: Database): Promise<WaitingRuns> {
  const [row] = await read(async (session) =>
    session.all(
      `SELECT COUNT(*) AS count, MAX(${clock} - CASE WHEN not_before > created_at THEN not_before ELSE created_at END) AS age
        FROM dw_srv_runs WHERE open = 1 AND status = 'pending' AND not_before <= ${clock}`,
      [],
    ),
  );
  return { count: Number(row?.count ?? 0), oldestSeconds: Math.max(0, Number(row?.age ?? 0)) / 1_000 };
}

/** Workers with runs whose process has ended. */
async function goneWorkers(session: SqlSession): Promise<string[]> {
  const rows = await session.all(
    "SELECT DISTINCT worker FROM dw_srv_runs WHERE open = 1 AND status = 'running' AND worker IS NOT NULL",
  );
  return rows.map(({ worker }) => worker as string).filter(isProcessGone);
}
