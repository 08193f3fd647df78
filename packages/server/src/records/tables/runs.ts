/** Runs, as rows where the database lives. */
import type { RunStatus } from "@deepwright/protocol";
import type {
  EndedRun,
  EndedRunsQuery,
  NewEvent,
  NewRun,
  Owner,
  RunClaim,
  RunHead,
  RunKey,
  RunRecord,
  StartedRun,
  WaitingRuns,
} from "../records.ts";
import {
  type ClaimKey,
  claimNext,
  finishRun,
  keepClaim,
  noteStall,
  releaseRun,
  type StoredEnd,
  threadsToWakeUp,
  waitingRuns,
} from "./claim-run.ts";
import { callbackOf, noteCompletion } from "./completions.ts";
import { Conditions, countOf, type Listing, type Page, pageOf } from "./conditions.ts";
import type { Database, SqlSession } from "./database.ts";
import { endedRuns } from "./ended-runs.ts";
import { findRun, HEAD_COLUMNS, headOf, lockThread, momentOf, runOf } from "./run-row.ts";
import { cancelRun, knownRun, startRun } from "./start-run.ts";
import { endTask, lockParent } from "./task-ends.ts";

export function runRows(database: Database) {
  return {
    start: (run: NewRun, now: number): Promise<StartedRun> =>
      database.write((session) => startRun(database, session, run, now)),

    keyed: (key: RunKey, now: number): Promise<StartedRun | undefined> =>
      database.read((session) => knownRun(database, session, key, now)),

    withdraw: (owner: Owner, runId: string): Promise<boolean> =>
      database.write((session) => withdrawRun(database, session, owner, runId)),

    get: (owner: Owner, runId: string): Promise<RunRecord | undefined> =>
      database.read(async (session) => (await findRun(database, session, owner, runId))?.run),

    list: (owner: Owner, threadId: string, query: Page & { status?: RunStatus }): Promise<RunRecord[]> =>
      database.read(async (session) => {
        const rows = await pageOf(session, RUNS, runsOf(owner, threadId, query.status), query, undefined);
        return rows.map(runOf);
      }),

    next: (owner: Owner, threadId: string, after: number, query: { open?: boolean } = {}) =>
      database.read((session) => nextRun(session, owner, threadId, after, query)),

    heads: (owner: Owner, threadId: string, query: Page & { status?: RunStatus }): Promise<RunHead[]> =>
      database.read(async (session) => {
        const rows = await pageOf(session, HEADS, runsOf(owner, threadId, query.status), query, undefined);
        return rows.map(headOf);
      }),

    count: (owner: Owner, threadId: string, { status }: { status?: RunStatus } = {}): Promise<number> =>
      database.read((session) => countOf(session, HEADS, runsOf(owner, threadId, status), undefined)),

    open: (owner: Owner, query: Page & { status?: RunStatus }): Promise<RunHead[]> =>
      database.read((session) => openRuns(session, owner, query)),

    ended: (owner: Owner, query: EndedRunsQuery): Promise<EndedRun[]> => endedRuns(database, owner, query),

    delete: (owner: Owner, runId: string): Promise<boolean> =>
      database.write((session) => deleteRun(database, session, owner, runId)),

    requestCancel: (
      owner: Owner,
      runId: string,
      action: "interrupt" | "rollback",
      lastEvents: readonly NewEvent[],
      now: number,
    ): Promise<RunRecord | undefined> =>
      database.write((session) =>
        requestCancel(database, session, { owner, runId, action, lastEvents, now }),
      ),

    claimNext: (
      threadId: string,
      worker: string,
      ttlMs: number,
      token: string,
    ): Promise<RunClaim | undefined> =>
      database.write((session) => claimNext(database, session, threadId, worker, ttlMs, token)),

    keepClaim: (claim: ClaimKey, ttlMs: number): Promise<RunRecord | undefined> =>
      database.write((session) => keepClaim(database, session, claim, ttlMs)),

    noteStall: (claim: ClaimKey, first: string, head: string): Promise<number | undefined> =>
      database.write((session) => noteStall(session, claim, first, head)),

    finish: (
      claim: ClaimKey,
      end: StoredEnd,
      events: readonly NewEvent[],
      batch: string,
      now: number,
    ): Promise<boolean> =>
      database.write((session) => finishRun(database, session, claim, end, events, batch, now)),

    release: (claim: ClaimKey, now: number): Promise<void> =>
      database.write((session) => releaseRun(session, claim, now)),

    threadsToWakeUp: (limit: number): Promise<string[]> =>
      database.read((session) => threadsToWakeUp(database, session, limit)),

    waiting: (): Promise<WaitingRuns> => waitingRuns(database),
  };
}

interface CancelRequest {
  readonly owner: Owner;
  readonly runId: string;
  readonly action: "interrupt" | "rollback";
  readonly lastEvents: readonly NewEvent[];
  readonly now: number;
}

async function requestCancel(
  database: Database,
  session: SqlSession,
  { owner, runId, action, lastEvents, now }: CancelRequest,
): Promise<RunRecord | undefined> {
  const seen = await findRun(database, session, owner, runId);
  if (seen === undefined) return undefined;
  const { thread_id: threadId } = seen.run;
  const parent = await lockParent(database, session, threadId);
  if (!(await lockThread(database, session, threadId))) return undefined;
  const found = await findRun(database, session, owner, runId);
  if (found === undefined) return undefined;
  if (!isOpen(found.run)) return wasCancelled(found.run, action, now) ? found.run : undefined;
  const run = await cancelRun(database, session, found, action, lastEvents, now);
  if (isOpen(run)) return run;
  if (parent !== undefined) await endTask(session, parent, threadId, "cancelled");
  await noteCompletion(database, session, { threadId, runId }, callbackOf(run.request), "cancelled");
  return run;
}

/** Whether this very request, repeated after a lost answer, has cancelled the run. */
function wasCancelled(run: RunRecord, action: string, now: number): boolean {
  return run.cancel === action && run.attempts === 0 && run.updated_at === momentOf(now);
}

export function isOpen(run: RunRecord): boolean {
  return run.status === "pending" || run.status === "running";
}

const HEADS: Listing = {
  columns: HEAD_COLUMNS,
  from: "dw_srv_runs",
  bytes: ["metadata", "error", "outcome"].map((name) => `COALESCE(OCTET_LENGTH(${name}), 0)`).join(" + "),
  order: "sequence DESC",
};

const RUNS: Listing = {
  ...HEADS,
  columns: "*",
  bytes: `${HEADS.bytes} + OCTET_LENGTH(request) + COALESCE(OCTET_LENGTH(caller), 0)`,
};

function runsOf(owner: Owner, threadId: string, status: RunStatus | undefined): Conditions {
  const conditions = new Conditions();
  conditions.add(`owner = ${conditions.bind(owner)}`);
  conditions.add(`thread_id = ${conditions.bind(threadId)}`);
  if (status !== undefined) conditions.add(`status = ${conditions.bind(status)}`);
  return conditions;
}

async function nextRun(
  session: SqlSession,
  owner: Owner,
  threadId: string,
  after: number,
  { open = false }: { open?: boolean },
): Promise<RunRecord | undefined> {
  const [row] = await session.all(
    `SELECT * FROM dw_srv_runs WHERE owner = $1 AND thread_id = $2 AND sequence > $3${open ? " AND open = 1" : ""}
      ORDER BY sequence LIMIT 1`,
    [owner, threadId, after],
  );
  return row && runOf(row);
}

async function openRuns(
  session: SqlSession,
  owner: Owner,
  query: Page & { status?: RunStatus },
): Promise<RunHead[]> {
  const conditions = new Conditions();
  conditions.add("open = 1");
  conditions.add(`owner = ${conditions.bind(owner)}`);
  if (query.status !== undefined) conditions.add(`status = ${conditions.bind(query.status)}`);
  const listing = { ...HEADS, order: "position" };
  return (await pageOf(session, listing, conditions, query, undefined)).map(headOf);
}

/** Keeps its key, with the run as it was. */
async function deleteRun(
  database: Database,
  session: SqlSession,
  owner: Owner,
  runId: string,
): Promise<boolean> {
  const found = await findRun(database, session, owner, runId);
  if (found === undefined) return false;
  await removeRuns(session, "run_id = $1", runId);
  return true;
}

async function withdrawRun(
  database: Database,
  session: SqlSession,
  owner: Owner,
  runId: string,
): Promise<boolean> {
  const seen = await findRun(database, session, owner, runId);
  if (seen === undefined || !(await lockThread(database, session, seen.run.thread_id))) return false;
  const found = await findRun(database, session, owner, runId);
  if (found?.run.status !== "pending" || found.begun) return false;
  await session.run("DELETE FROM dw_srv_keys WHERE run_id = $1 AND owner = $2", [runId, owner]);
  await removeRuns(session, "run_id = $1", runId);
  return true;
}

/** Every run for which `condition`, one of ours, holds of `value`. */
export async function removeRuns(session: SqlSession, condition: string, value: string): Promise<void> {
  const keyed = await session.all(
    `SELECT * FROM dw_srv_runs WHERE ${condition} AND EXISTS (SELECT 1 FROM dw_srv_keys k WHERE k.run_id = dw_srv_runs.run_id)`,
    [value],
  );
  for (const row of keyed) {
    const run = runOf(row);
    await session.run("UPDATE dw_srv_keys SET run = $1 WHERE run_id = $2 AND owner = $3", [
      JSON.stringify(run),
      run.run_id,
      run.owner,
    ]);
  }
  await session.run(
    `DELETE FROM dw_srv_events WHERE run IN (SELECT position FROM dw_srv_runs WHERE ${condition})`,
    [value],
  );
  await session.run(`DELETE FROM dw_srv_runs WHERE ${condition}`, [value]);
}
