/** The events of runs, as rows where the database lives. */
import type { Database, SqlSession } from "./database.ts";
import type { NewEvent, RunEvent } from "./records.ts";
import { insertNumbered, numbered } from "./run-row.ts";
import { KEY_LIFETIME_MS } from "./start-run.ts";

/** Characters after which a read ends, with at least one event. */
const LARGE_READ = 4 * 1024 * 1024;
/** Runs whose events go in one transaction. */
const SWEPT_TOGETHER = 100;

/** What one run has to say, under its fence; `batch` is of this call, so that repeating it adds nothing. */
export interface Append {
  readonly runId: string;
  readonly fence: number;
  readonly batch: string;
  readonly events: readonly NewEvent[];
}

/** How far a run is: changes when there is something new for those who watch it. */
export interface RunMark {
  readonly runId: string;
  readonly mark: string;
}

export type EventRows = ReturnType<typeof eventRows>;

export function eventRows(database: Database) {
  return {
    /** One transaction for all; of each the number of its last event, undefined under an old fence. */
    append: (appends: readonly Append[]): Promise<(number | undefined)[]> =>
      database.write((session) => appendAll(database, session, appends)),

    read: (runId: string, after: number, limit: number): Promise<RunEvent[]> =>
      database.read((session) => readEvents(session, runId, after, limit)),

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

    /** Some of what is to go; whether there may be more. */
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

/** Of appends whose answer got lost, the number of the last event. */
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

async function readEvents(
  session: SqlSession,
  runId: string,
  after: number,
  limit: number,
): Promise<RunEvent[]> {
  const rows = await session.all(
    `SELECT sequence, event, data FROM (
      SELECT e.sequence, e.event, e.data, SUM(LENGTH(e.data)) OVER (ORDER BY e.sequence) AS so_far
        FROM (SELECT * FROM dw_srv_events WHERE run = (SELECT position FROM dw_srv_runs WHERE run_id = $1)
          AND sequence > $2 ORDER BY sequence LIMIT $3) AS e) AS counted
      WHERE so_far - LENGTH(data) < $4 ORDER BY sequence`,
    [runId, after, Math.max(0, limit), LARGE_READ],
  );
  return rows.map((row) => ({
    sequence: row.sequence as number,
    event: row.event as string,
    data: row.data as string,
  }));
}

async function sweep(session: SqlSession, before: number, now: number): Promise<boolean> {
  await session.run("DELETE FROM dw_srv_keys WHERE created_at < $1", [now - KEY_LIFETIME_MS]);
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
