/** Crons, as rows where the database lives. */

import type { ByteLimit } from "@deepwright/checkpoint/sql";
import type { Cron, SearchCrons } from "@deepwright/protocol";
import type { DueCron, ListedCron, Owner } from "../records.ts";
import { Conditions, countOf, type Listing, orderOf, pageOf, type Verify } from "./conditions.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { contains } from "./json-filter.ts";

type Filters = Pick<SearchCrons, "assistant_id" | "thread_id" | "metadata"> & { enabled?: boolean | null };

/** From one date to the next. `token` identifies the call, so that a repeated call takes the same crons. */
export interface CronStep {
  readonly owner: Owner;
  readonly cronId: string;
  readonly from: number;
  readonly to: number | null;
}

export function cronRows(database: Database) {
  const { read, write } = database;
  return {
    put: (owner: Owner, cron: Cron): Promise<Cron> => write((session) => putCron(session, owner, cron)),

    get: (owner: Owner, cronId: string): Promise<Cron | undefined> =>
      read(async (session) => {
        const rows = await session.all("SELECT * FROM dw_srv_crons WHERE owner = $1 AND cron_id = $2", [
          owner,
          cronId,
        ]);
        return rows.map(cronOf)[0];
      }),

    search: (owner: Owner, query: SearchCrons, bytes?: ByteLimit): Promise<Cron[]> =>
      read(async (session) => {
        const order = orderOf(SORTS, query.sort_by, query.sort_order, "position");
        const conditions = matching(owner, query);
        const verify = verifying(query);
        const rows = await pageOf(session, { ...LISTING, order }, conditions, { ...query, bytes }, verify);
        return rows.map(cronOf);
      }),

    count: (owner: Owner, query: Filters): Promise<number> =>
      read((session) => countOf(session, LISTING, matching(owner, query), verifying(query))),

    delete: (owner: Owner, cronId: string): Promise<boolean> =>
      write(async (session) => {
        const gone = await session.run("DELETE FROM dw_srv_crons WHERE owner = $1 AND cron_id = $2", [
          owner,
          cronId,
        ]);
        return gone > 0;
      }),

    due: (now: number, limit: number): Promise<DueCron[]> =>
      read(async (session) => {
        const rows = await session.all(
          "SELECT * FROM dw_srv_crons WHERE enabled = 1 AND next_run <= $1 ORDER BY next_run, position LIMIT $2",
          [now, limit],
        );
        return rows.map((row) => ({ owner: row.owner as string, cron: cronOf(row) }));
      }),

    ahead: (now: number, after: number, limit: number): Promise<ListedCron[]> =>
      read(async (session) => {
        const rows = await session.all(
          `SELECT * FROM dw_srv_crons WHERE enabled = 1 AND next_run > $1 AND position > $2
            ORDER BY position LIMIT $3`,
          [now, after, limit],
        );
        return rows.map((row) => ({
          owner: row.owner as string,
          cron: cronOf(row),
          position: row.position as number,
        }));
      }),

    /** For each step, whether this call made it. */
    advance: (steps: readonly CronStep[], token: string): Promise<boolean[]> =>
      write(async (session) => {
        const made: boolean[] = [];
        for (const { owner, cronId, from, to } of steps) {
          const rows = await session.all(
            `UPDATE dw_srv_crons SET next_run = $1, taken = $2 WHERE owner = $3 AND cron_id = $4
              AND enabled = 1 AND (next_run = $5 OR taken = $2) RETURNING position`,
            [to, token, owner, cronId, from],
          );
          made.push(rows.length > 0);
        }
        return made;
      }),
  };
}

async function putCron(session: SqlSession, owner: Owner, cron: Cron): Promise<Cron> {
  await session.run(
    `INSERT INTO dw_srv_crons (owner, cron_id, assistant_id, thread_id, enabled, next_run, created_at, updated_at,
      body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (owner, cron_id) DO UPDATE SET assistant_id = excluded.assistant_id,
        thread_id = excluded.thread_id, enabled = excluded.enabled, next_run = excluded.next_run,
        updated_at = excluded.updated_at, body = excluded.body, taken = NULL`,
    [
      owner,
      cron.cron_id,
      cron.assistant_id,
      cron.thread_id,
      cron.enabled ? 1 : 0,
      cron.next_run_date === null ? null : Date.parse(cron.next_run_date),
      Date.parse(cron.created_at),
      Date.parse(cron.updated_at),
      JSON.stringify(cron),
    ],
  );
  return cron;
}

const LISTING: Listing = {
  columns: "body, next_run",
  from: "dw_srv_crons",
  bytes: "OCTET_LENGTH(body)",
  order: "position",
};

const SORTS = {
  cron_id: "cron_id",
  assistant_id: "assistant_id",
  thread_id: "thread_id",
  created_at: "created_at",
  updated_at: "updated_at",
  next_run_date: "next_run",
};

function matching(owner: Owner, query: Filters): Conditions {
  const conditions = new Conditions();
  conditions.add(`owner = ${conditions.bind(owner)}`);
  if (query.assistant_id) conditions.add(`assistant_id = ${conditions.bind(query.assistant_id)}`);
  if (query.thread_id) conditions.add(`thread_id = ${conditions.bind(query.thread_id)}`);
  if (typeof query.enabled === "boolean")
    conditions.add(`enabled = ${conditions.bind(query.enabled ? 1 : 0)}`);
  return conditions;
}

/** An owner has few of them: they are looked at one by one. */
function verifying({ metadata }: Filters): Verify | undefined {
  if (metadata == null || Object.keys(metadata).length === 0) return undefined;
  const matches = ({ body }: SqlRow) => contains((JSON.parse(body as string) as Cron).metadata, metadata);
  return { together: 1_000, matches };
}

/** The date in the row is newer than that in the body. */
function cronOf(row: SqlRow): Cron {
  const next = row.next_run === null ? null : new Date(row.next_run as number).toISOString();
  return { ...(JSON.parse(row.body as string) as Cron), next_run_date: next };
}
