/** A run as a row. */
import type { MultitaskStrategy, RunStatus } from "@deepwright/protocol";
import { isProcessGone } from "deepwright/process-identity";
import type { NewEvent, Owner, RunHead, RunRecord } from "../records.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";

/** A run with the fields that only storage uses. */
export interface StoredRun {
  readonly run: RunRecord;
  /** The number its events are kept under. */
  readonly position: number;
  readonly fence: number;
  readonly token: string | null;
  readonly stalled: number;
  /** Whether a worker has begun it, be it at work or given back: the first thing that one does is to write an event. */
  readonly begun: boolean;
  /** Whether its worker has not kept its claim, or is gone. */
  readonly abandoned: boolean;
}

/** The columns of a run; `run_out` needs the clock. */
export function runColumns(database: Database): string {
  return `*, CASE WHEN status = 'running' AND ${hasRunOut(database)} THEN 1 ELSE 0 END AS run_out`;
}

/** SQL for an expired claim. A claim with an end too far in the future was made before the clock was set back. */
export function hasRunOut({ claimClock }: Database): string {
  return `(claim_expires <= ${claimClock} OR claim_expires > ${claimClock} + claim_ttl)`;
}

export function storedRun(row: SqlRow): StoredRun {
  return {
    run: runOf(row),
    position: row.position as number,
    fence: row.fence as number,
    token: row.token as string | null,
    stalled: stallOf(row),
    begun: (row.last_event as number) > 0,
    abandoned: row.run_out === 1 || (row.status === "running" && isProcessGone(row.worker as string)),
  };
}

/** Attempts without getting further, this one among them, as far as that was noted. */
export function stallOf({ attempts, stalled_from: from }: SqlRow): number {
  return (attempts as number) - (from as number) + 1;
}

export function runOf(row: SqlRow): RunRecord {
  return {
    ...headOf(row),
    request: JSON.parse(row.request as string),
    ...(row.caller !== null && { user: JSON.parse(row.caller as string) }),
  };
}

/** The columns that `headOf` needs. */
export const HEAD_COLUMNS =
  "run_id, thread_id, assistant_id, created_at, updated_at, status, metadata, strategy, owner, sequence, attempts, error, outcome, cancel";

export function headOf(row: SqlRow): RunHead {
  return {
    run_id: row.run_id as string,
    thread_id: row.thread_id as string,
    assistant_id: row.assistant_id as string,
    created_at: momentOf(row.created_at),
    updated_at: momentOf(row.updated_at),
    status: row.status as RunStatus,
    metadata: JSON.parse(row.metadata as string),
    multitask_strategy: row.strategy as MultitaskStrategy,
    owner: row.owner as string,
    sequence: row.sequence as number,
    attempts: row.attempts as number,
    ...(row.error !== null && { error: JSON.parse(row.error as string) }),
    ...(row.outcome !== null && { outcome: JSON.parse(row.outcome as string) }),
    ...(row.cancel !== null && { cancel: row.cancel as "interrupt" | "rollback" }),
  };
}

export function momentOf(milliseconds: unknown): string {
  return new Date(milliseconds as number).toISOString();
}

export async function findRun(
  database: Database,
  session: SqlSession,
  owner: Owner,
  runId: string,
): Promise<StoredRun | undefined> {
  const [row] = await session.all(
    `SELECT ${runColumns(database)} FROM dw_srv_runs WHERE run_id = $1 AND owner = $2`,
    [runId, owner],
  );
  return row && storedRun(row);
}

/** Locks the thread against other changes of its runs; false: there is no such thread, or the owner has another one. */
export async function lockThread(
  database: Database,
  session: SqlSession,
  threadId: string,
  owner?: Owner,
): Promise<boolean> {
  const [row] = await session.all(`SELECT owner FROM dw_srv_threads WHERE thread_id = $1${database.lock}`, [
    threadId,
  ]);
  return row !== undefined && (owner ?? row.owner) === row.owner;
}

const EVENT_COLUMNS = { run: "BIGINT", sequence: "BIGINT", event: "TEXT", data: "TEXT" } as const;

type EventRow = [run: number, sequence: number, event: string, data: string];

/** Events that follow number `after` of the run at that position. */
export function numbered(position: number, after: number, events: readonly NewEvent[]): EventRow[] {
  return events.map(({ event, data }, index) => [position, after + index + 1, event, data]);
}

export function insertNumbered(
  database: Database,
  session: SqlSession,
  rows: readonly EventRow[],
): Promise<void> {
  return database.insertAll(session, "dw_srv_events", EVENT_COLUMNS, rows);
}
