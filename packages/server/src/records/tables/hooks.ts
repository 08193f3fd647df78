/** Webhooks, as rows of the database. */

import { pushHook } from "../../a2a/a2a-push.ts";
import type { DueHook, HookRecord, NewHook, PassedOver, PushConfig } from "../contract/hook-records.ts";
import type { Owner, RunRecord } from "../records.ts";
import { type Database, isDue, type SqlRow, type SqlSession } from "./database.ts";
import { findRun } from "./run-row.ts";

/** Null: it is not tried again. */
export interface HookOutcome {
  readonly status: HookRecord["status"];
  readonly answer: number | null;
  readonly againInMs: number | null;
}

/** Longer than any pause between two attempts, in milliseconds. The first attempt is due at once. */
const LONGEST_PAUSE = "CASE WHEN attempts = 0 THEN 60000 ELSE 86400000 END";

export function hookRows(database: Database) {
  const { read, write, clock } = database;
  return {
    /** Each call belongs to one worker for `leaseMs`; if the worker dies, others take it. */
    take: (limit: number, leaseMs: number, passedOver?: PassedOver): Promise<DueHook[]> =>
      write(async (session) => {
        const { owners = [], urls = [] } = passedOver ?? {};
        const rows = await session.all(
          `UPDATE dw_srv_hooks SET attempts = attempts + 1, due = ${clock} + $1 WHERE position IN (
            SELECT position FROM dw_srv_hooks WHERE ${isDue(database, "due", LONGEST_PAUSE)}
              AND NOT (owner ${database.among("$3")}) AND NOT (url ${database.among("$4")})
              ORDER BY due LIMIT $2${database.lock})
            RETURNING *`,
          [Math.ceil(leaseMs), Math.max(0, limit), database.list(owners), database.list(urls)],
        );
        return rows.map(dueHook);
      }),

    /** Nothing, when another has taken it since. */
    note: ({ id, attempts }: DueHook, { status, answer, againInMs }: HookOutcome): Promise<void> =>
      write(async (session) => {
        await session.run(
          `UPDATE dw_srv_hooks SET status = $1, answer = $2,
            due = ${clock} + CAST($3 AS BIGINT),
            body = CASE WHEN CAST($3 AS BIGINT) IS NULL THEN NULL ELSE body END WHERE hook_id = $4 AND attempts = $5`,
          [status, answer, againInMs === null ? null : Math.ceil(againInMs), id, attempts],
        );
      }),

    newest: (owner: Owner, limit: number): Promise<HookRecord[]> =>
      read(async (session) => {
        const rows = await session.all(
          "SELECT * FROM dw_srv_hooks WHERE owner = $1 ORDER BY created_at DESC, position DESC LIMIT $2",
          [owner, Math.max(0, limit)],
        );
        return rows.map(hookOf);
      }),

    get: (owner: Owner, runId: string): Promise<HookRecord | undefined> =>
      read(async (session) => {
        const rows = await session.all("SELECT * FROM dw_srv_hooks WHERE owner = $1 AND run_id = $2", [
          owner,
          runId,
        ]);
        return rows.map(hookOf)[0];
      }),

    setPush: (owner: Owner, runId: string, push: PushConfig | null): Promise<void> =>
      write(async (session) => {
        const found = await findRun(database, session, owner, runId);
        if (found === undefined) return;
        const request = JSON.stringify({ ...found.run.request, push });
        await session.run("UPDATE dw_srv_runs SET request = $1 WHERE position = $2", [
          request,
          found.position,
        ]);
      }),
  };
}

/** In the transaction that ends the run. */
export async function insertHook(
  database: Database,
  session: SqlSession,
  runId: string,
  { url, body, headers }: NewHook,
  now: number,
): Promise<void> {
  await session.run(
    `INSERT INTO dw_srv_hooks (hook_id, owner, run_id, url, body, attempts, due, status, created_at, headers)
      SELECT run_id, owner, run_id, $1, $2, 0, ${database.clock}, 'waiting', $3, $5 FROM dw_srv_runs WHERE run_id = $4`,
    [url, body, now, runId, headers === undefined ? null : JSON.stringify(headers)],
  );
}

/** In the transaction that ends a run before it began: there is nothing to tell but that. */
export async function insertHookOfUnbegun(
  database: Database,
  session: SqlSession,
  run: RunRecord,
  now: number,
): Promise<void> {
  const { run_id, thread_id, assistant_id, created_at, metadata, status, request } = run;
  if (request.push) {
    const hook = pushHook(request.push, { run, waiting: [], answer: undefined });
    await insertHook(database, session, run_id, hook, now);
  }
  const url = request.webhook;
  if (!url) return;
  const told = { run_id, thread_id, assistant_id, created_at, metadata, status };
  const body = JSON.stringify({ ...told, error: null, values: null, interrupts: {} });
  await insertHook(database, session, run_id, { url, body }, now);
}

function dueHook(row: SqlRow): DueHook {
  return {
    ...hookOf(row),
    owner: row.owner as string,
    id: row.hook_id as string,
    body: row.body as string,
    ...(row.headers !== null && { headers: JSON.parse(row.headers as string) }),
  };
}

function hookOf(row: SqlRow): HookRecord {
  return {
    runId: row.run_id as string,
    url: row.url as string,
    status: row.status as HookRecord["status"],
    attempts: row.attempts as number,
    answer: row.answer as number | null,
  };
}
