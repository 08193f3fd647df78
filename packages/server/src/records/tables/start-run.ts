/** How a run begins to be: once for its key, and in its place among the others of its thread. */

import type { NewEvent, NewRun, RunKey, RunRecord, StartedRun } from "../records.ts";
import { threadWords } from "../thread-words.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { insertHookOfUnbegun } from "./hooks.ts";
import {
  findRun,
  insertNumbered,
  numbered,
  runColumns,
  runOf,
  type StoredRun,
  storedRun,
} from "./run-row.ts";

/** How long a key is remembered, at least. */
export const KEY_LIFETIME_MS = 24 * 3_600_000;

export async function startRun(
  database: Database,
  session: SqlSession,
  run: NewRun,
  now: number,
): Promise<StartedRun> {
  const [thread] = await session.all(
    `SELECT last_run FROM dw_srv_threads WHERE thread_id = $1 AND owner = $2${database.lock}`,
    [run.threadId, run.owner],
  );
  const known = await knownRun(database, session, run, now);
  if (known !== undefined) return known;
  if (thread === undefined) return { kind: "no-thread" };
  const inTheWay = await openRuns(database, session, run.threadId);
  const repeated = inTheWay.find((other) => other.run.run_id === run.runId);
  if (repeated?.run.owner === run.owner) return { kind: "created", run: repeated.run, displaced: [] };
  if (run.strategy === "reject" && inTheWay.length > 0) return { kind: "busy" };
  const displaced =
    run.strategy === "interrupt" || run.strategy === "rollback"
      ? await displace(database, session, inTheWay, run.strategy, run.endOfDisplaced ?? [], now)
      : [];
  await keepKey(session, run, now);
  const created = await insertRun(session, run, (thread.last_run as number) + 1, now);
  return { kind: "created", run: created, displaced };
}

/** The run stored under the key; undefined for a key that is not kept. */
export async function knownRun(
  database: Database,
  session: SqlSession,
  run: RunKey & Partial<Pick<NewRun, "runId">>,
  now: number,
): Promise<StartedRun | undefined> {
  if (run.idempotencyKey === undefined) return undefined;
  const [kept] = await session.all(
    "SELECT * FROM dw_srv_keys WHERE owner = $1 AND name = $2 AND created_at >= $3",
    [run.owner, run.idempotencyKey, now - KEY_LIFETIME_MS],
  );
  if (kept === undefined) return undefined;
  if (kept.request_hash !== (run.requestHash ?? "")) return { kind: "key-reused" };
  const found = await findRun(database, session, run.owner, kept.run_id as string);
  if (found !== undefined && found.run.run_id === run.runId)
    return { kind: "created", run: found.run, displaced: [] };
  return { kind: "known", run: found?.run ?? (JSON.parse(kept.run as string) as RunRecord) };
}

/** Two requests that bring one key at the same time meet in the key of the table: one of them is done again. */
async function keepKey(session: SqlSession, run: NewRun, now: number): Promise<void> {
  if (run.idempotencyKey === undefined) return;
  const key = [run.owner, run.idempotencyKey];
  await session.run("DELETE FROM dw_srv_keys WHERE owner = $1 AND name = $2 AND created_at < $3", [
    ...key,
    now - KEY_LIFETIME_MS,
  ]);
  await session.run(
    "INSERT INTO dw_srv_keys (owner, name, request_hash, run_id, created_at) VALUES ($1, $2, $3, $4, $5)",
    [...key, run.requestHash ?? "", run.runId, now],
  );
}

/** Runs at work and runs that could begin. */
async function openRuns(database: Database, session: SqlSession, threadId: string): Promise<StoredRun[]> {
  const rows = await session.all(
    `SELECT ${runColumns(database)} FROM dw_srv_runs
      WHERE thread_id = $1 AND open = 1 AND not_before <= ${database.clock} ORDER BY sequence`,
    [threadId],
  );
  return rows.map(storedRun);
}

async function displace(
  database: Database,
  session: SqlSession,
  runs: readonly StoredRun[],
  action: "interrupt" | "rollback",
  lastEvents: readonly NewEvent[],
  now: number,
): Promise<RunRecord[]> {
  const displaced: RunRecord[] = [];
  for (const run of runs) displaced.push(await cancelRun(database, session, run, action, lastEvents, now));
  return displaced;
}

/**
 * Needs the lock of the thread. A run that has not begun ends at once. The worker of a running run gets the request. A
 * run that was given back keeps its place in the queue, and the next worker ends it. The first request counts.
 */
export async function cancelRun(
  database: Database,
  session: SqlSession,
  { run, position, begun }: StoredRun,
  action: "interrupt" | "rollback",
  lastEvents: readonly NewEvent[],
  now: number,
): Promise<RunRecord> {
  const waits = run.status === "pending" && !begun;
  const [row] = await session.all(
    waits
      ? `UPDATE dw_srv_runs SET cancel = COALESCE(cancel, $1), updated_at = $2, status = 'interrupted', open = 0, ended_at = $2,
          last_event = last_event + $3, has_log = 1 WHERE position = $4 RETURNING ${runColumns(database)}`
      : `UPDATE dw_srv_runs SET cancel = COALESCE(cancel, $1), updated_at = $2, last_event = last_event + $3
          WHERE position = $4 RETURNING ${runColumns(database)}`,
    [action, now, waits ? lastEvents.length : 0, position],
  );
  if (row === undefined) return run;
  if (waits) {
    const after = (row.last_event as number) - lastEvents.length;
    await insertNumbered(database, session, numbered(position, after, lastEvents));
    await insertHookOfUnbegun(database, session, storedRun(row).run, now);
  }
  return storedRun(row).run;
}

async function insertRun(
  session: SqlSession,
  run: NewRun,
  sequence: number,
  now: number,
): Promise<RunRecord> {
  const [row] = await session.all(
    `INSERT INTO dw_srv_runs (run_id, owner, thread_id, assistant_id, sequence, status, open, strategy, metadata,
      request, created_at, updated_at, not_before, attempts, fence, claim_expires, last_event, has_log, caller)
      VALUES ($1, $2, $3, $4, $5, 'pending', 1, $6, $7, $8, $9, $9, $10, 0, 0, 0, 0, 1, $11) RETURNING *`,
    [
      run.runId,
      run.owner,
      run.threadId,
      run.assistantId,
      sequence,
      run.strategy,
      JSON.stringify(run.request.metadata ?? {}),
      JSON.stringify(run.request),
      now,
      Math.ceil(run.notBefore ?? 0),
      run.user === undefined ? null : JSON.stringify(run.user),
    ],
  );
  await session.run(
    "UPDATE dw_srv_threads SET last_run = $1, updated_at = $2, title = COALESCE(title, $4) WHERE thread_id = $3",
    [sequence, now, run.threadId, threadWords(run.request.input).title],
  );
  return runOf(row as SqlRow);
}
