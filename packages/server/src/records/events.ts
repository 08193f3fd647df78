/** The events of runs, as rows where the database lives. */
import type { Database, SqlSession } from "./database.ts";
import type { NewEvent, RunEvent } from "./records.ts";
import { insertEvents } from "./run-row.ts";
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
      database.write(async (session) => {
        const last: (number | undefined)[] = [];
        for (const one of appends) last.push(await append(database, session, one));
        return last;
      }),

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

async function append(
  database: Database,
  session: SqlSession,
  { runId, fence, batch, events }: Append,
): Promise<number | undefined> {
  const [row] = await session.all(
    `UPDATE dw_srv_runs SET last_event = last_event + $1, batch = $2
      WHERE run_id = $3 AND fence = $4 AND status = 'running' AND COALESCE(batch, '') <> $2
      RETURNING position, last_event`,
    [events.length, batch, runId, fence],
  );
  if (row === undefined) {
    const [done] = await session.all("SELECT last_event FROM dw_srv_runs WHERE run_id = $1 AND batch = $2", [
      runId,
      batch,
    ]);
    return done?.last_event as number | undefined;
  }
  const last = row.last_event as number;
  await insertEvents(database, session, row.position as number, last - events.length, events);
  return last;
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
    [runId, after, limit, LARGE_READ],
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
