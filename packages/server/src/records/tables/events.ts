/** The events of runs, as rows where the database lives. */

import type { NewEvent, RunEvent, SkimmedEvent } from "../records.ts";
import type { Database, SqlSession } from "./database.ts";
import { insertNumbered, numbered } from "./run-row.ts";
import { KEY_LIFETIME_MS } from "./start-run.ts";

/** Characters after which a read ends, with at least one event. */
const LARGE_READ = 4 * 1024 * 1024;
/** Bytes beyond which an event is read in pieces, where that is wanted. */
const LARGE_EVENT = 2 * 1024 * 1024;
const NO_LIMIT = 2 ** 31 - 1;
/** Runs whose events are deleted in one transaction. */
const SWEPT_TOGETHER = 100;

/** New events of one run, under its fence; `batch` names this call, so that repeating it adds nothing. */
export interface Append {
  readonly runId: string;
  readonly fence: number;
  readonly batch: string;
  readonly events: readonly NewEvent[];
}

/** A mark that changes when a run has news for its watchers. */
export interface RunMark {
  readonly runId: string;
  readonly mark: string;
}

export function eventRows(database: Database) {
  return {
    /** One transaction for all; of each the number of its last event, undefined under an old fence. */
    append: (appends: readonly Append[]): Promise<(number | undefined)[]> =>
      database.write((session) => appendAll(database, session, appends)),

    read: (runId: string, after: number, limit: number): Promise<RunEvent[]> =>
      database.read((session) => readEvents(session, runId, after, limit)),

    skim: (runId: string, after: number, limit: number): Promise<SkimmedEvent[]> =>
      database.read((session) => readEvents(session, runId, after, limit, LARGE_EVENT)),

    piece: (runId: string, sequence: number, from: number, count: number): Promise<string> =>
      database.read(async (session) => {
        const [row] = await session.all(
          `SELECT SUBSTR(data, $1, $2) AS piece FROM dw_srv_events
            WHERE run = (SELECT position FROM dw_srv_runs WHERE run_id = $3) AND sequence = $4`,
          [from + 1, count, runId, sequence],
        );
        return (row?.piece as string | undefined) ?? "";
      }),

    marks: (runIds: readonly string[]): Promise<RunMark[]> =>
      database.read(async (session) => {
        const rows = await session.all(
          `SELECT run_id, last_event, status, cancel FROM dw_srv_runs WHERE run_id ${database.among("$1")}`,
          [database.list(runIds)],
        );
        return rows.map((row) => ({
          runId: row.run_id as string,
          mark: `${row.last_event} ${row.status} ${row.cancel}`,
        }));
      }),

    /** Deletes some expired events; returns whether there may be more. */
    sweep: (before: number, now: number): Promise<boolean> =>
      database.write((session) => sweep(session, before, now)),
  };
}

const APPEND_COLUMNS = { of_run: "TEXT", under: "BIGINT", by: "TEXT", added: "BIGINT" } as const;

async function appendAll(
  database: Database,
  session: SqlSession,
  appends: readonly Append[],
): Promise<(number | undefined)[]> {
  const wanted = appends.map(({ runId, fence, batch, events }) => [runId, fence, batch, events.length]);
  const { sql, params } = database.given(APPEND_COLUMNS, wanted);
  const rows = await session.all(
    `UPDATE dw_srv_runs SET last_event = last_event + given.added, batch = given.by FROM ${sql}
      WHERE run_id = given.of_run AND fence = given.under AND status = 'running' AND COALESCE(batch, '') <> given.by
      RETURNING position, batch, last_event`,
    params,
  );
  const taken = new Map(rows.map((row) => [row.batch, row]));
  const events = appends.flatMap(({ batch, events: more }) => {
    const row = taken.get(batch);
    const after = row === undefined ? 0 : (row.last_event as number) - more.length;
    return row === undefined ? [] : numbered(row.position as number, after, more);
  });
  await insertNumbered(database, session, events);
  const done = taken.size < appends.length ? await stored(database, session, appends) : new Map();
  return appends.map(({ batch }) => taken.get(batch)?.last_event ?? done.get(batch)) as (
    | number
    | undefined
  )[];
}

/** The number of the last event, for repeated appends whose first answer was lost. */
async function stored(
  database: Database,
  session: SqlSession,
  appends: readonly Append[],
): Promise<Map<string, number>> {
  const { sql, params } = database.given(
    { of_run: "TEXT", by: "TEXT" },
    appends.map(({ runId, batch }) => [runId, batch]),
  );
  const rows = await session.all(
    `SELECT r.batch, r.last_event FROM ${sql} JOIN dw_srv_runs r ON r.run_id = given.of_run AND r.batch = given.by`,
    params,
  );
  return new Map(rows.map((row) => [row.batch as string, row.last_event as number]));
}

/** Sizes first: they stand beside the texts, which are not touched for them. */
async function readEvents(
  session: SqlSession,
  runId: string,
  after: number,
  limit: number,
  largest = NO_LIMIT,
): Promise<SkimmedEvent[]> {
  const rows = await session.all(
    `SELECT e.sequence, e.event, counted.bytes, CASE WHEN counted.bytes > $5 THEN NULL ELSE e.data END AS data FROM (
      SELECT run, sequence, bytes, SUM(bytes) OVER (ORDER BY sequence) - bytes AS before
        FROM (SELECT run, sequence, OCTET_LENGTH(data) AS bytes FROM dw_srv_events
          WHERE run = (SELECT position FROM dw_srv_runs WHERE run_id = $1) AND sequence > $2
          ORDER BY sequence LIMIT $3) AS sized) AS counted
      JOIN dw_srv_events e ON e.run = counted.run AND e.sequence = counted.sequence
      WHERE before < $4 ORDER BY e.sequence`,
    [runId, after, Math.max(0, limit), LARGE_READ, largest],
  );
  return rows.map((row) => ({
    sequence: row.sequence as number,
    event: row.event as string,
    data: (row.data as string | null) ?? "",
    ...(row.data === null && { bytes: Number(row.bytes) }),
  }));
}

async function sweep(session: SqlSession, before: number, now: number): Promise<boolean> {
  await session.run("DELETE FROM dw_srv_keys WHERE created_at < $1", [now - KEY_LIFETIME_MS]);
  await session.run("DELETE FROM dw_srv_hooks WHERE due IS NULL AND created_at < $1", [before]);
  const swept = await session.all(
    `UPDATE dw_srv_runs SET has_log = 0 WHERE position IN (SELECT position FROM dw_srv_runs
      WHERE has_log = 1 AND open = 0 AND ended_at < $1 ORDER BY ended_at LIMIT $2) RETURNING position`,
    [before, SWEPT_TOGETHER],
  );
  for (const { position } of swept) {
    await session.run("DELETE FROM dw_srv_events WHERE run = $1", [position as number]);
  }
  return swept.length === SWEPT_TOGETHER;
}
