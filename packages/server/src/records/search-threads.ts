/** How threads are found. */
import type { SearchThreads } from "@deepwright/protocol";
import { Conditions, countOf, orderOf, pageOf } from "./conditions.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { addMetadata, verifying } from "./json-filter.ts";
import type { Owner, ThreadRecord } from "./records.ts";
import { momentOf } from "./run-row.ts";

export type ThreadFilters = Pick<SearchThreads, "metadata" | "values" | "status" | "ids">;

export async function findThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
): Promise<ThreadRecord | undefined> {
  const [thread] = await load(database, session, owner, [threadId]);
  return thread;
}

/** Which threads first, then the threads: what is left out of a page is not read, and nothing is worked out for it. */
export async function searchThreads(
  database: Database,
  session: SqlSession,
  owner: Owner,
  query: SearchThreads,
): Promise<ThreadRecord[]> {
  const sorts = { ...SORTS, status: statusOf(database) };
  const order = orderOf(sorts, query.sort_by, query.sort_order, "t.position");
  const conditions = matching(database, owner, query);
  const rows = await pageOf(session, selectFor(query), conditions, order, query, verifyingOf(query));
  return load(
    database,
    session,
    owner,
    rows.map((row) => row.thread_id as string),
  );
}

export function countThreads(
  database: Database,
  session: SqlSession,
  owner: Owner,
  query: ThreadFilters,
): Promise<number> {
  const conditions = matching(database, owner, query);
  return countOf(session, selectFor(query), conditions, "t.position", verifyingOf(query));
}

const SORTS = {
  thread_id: "t.thread_id",
  created_at: "t.created_at",
  updated_at: "t.updated_at",
  state_updated_at: "t.state_updated_at",
};

/** A run of the thread is at work or may begin. */
function isBusy({ clock }: Database): string {
  return `EXISTS (SELECT 1 FROM dw_srv_runs r WHERE r.thread_id = t.thread_id AND r.open = 1
    AND (r.status = 'running' OR r.not_before <= ${clock}))`;
}

/** The status clients see. */
function statusOf(database: Database): string {
  return `CASE WHEN ${isBusy(database)} THEN 'busy' ELSE t.status END`;
}

/** With the columns that `verifyingOf` needs. */
function selectFor(query: ThreadFilters): string {
  const values = query.values ? ", t.state_values" : "";
  return `SELECT t.thread_id${query.metadata ? ", t.metadata" : ""}${values} FROM dw_srv_threads t`;
}

function matching(database: Database, owner: Owner, query: ThreadFilters): Conditions {
  const conditions = new Conditions();
  conditions.add(`t.owner = ${conditions.bind(owner)}`);
  if (query.status === "busy") conditions.add(isBusy(database));
  else if (query.status) {
    conditions.add(`t.status = ${conditions.bind(query.status)} AND NOT ${isBusy(database)}`);
  }
  if (query.ids) conditions.add(`t.thread_id ${database.among(conditions.bind(database.list(query.ids)))}`);
  addMetadata(database, conditions, "thread", "t.owner, t.thread_id", [owner], query.metadata);
  return conditions;
}

function verifyingOf({ metadata, values }: ThreadFilters) {
  return verifying({ metadata, state_values: values });
}

/** In the order of the ids; those that are not there are left out. */
async function load(
  database: Database,
  session: SqlSession,
  owner: Owner,
  ids: readonly string[],
): Promise<ThreadRecord[]> {
  if (ids.length === 0) return [];
  const rows = await session.all(
    `SELECT t.*, ${statusOf(database)} AS shown_status FROM dw_srv_threads t
      WHERE t.thread_id ${database.among("$1")} AND t.owner = $2`,
    [database.list(ids), owner],
  );
  const found = new Map(rows.map((row) => [row.thread_id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : [threadOf(row)];
  });
}

function threadOf(row: SqlRow): ThreadRecord {
  return {
    thread_id: row.thread_id as string,
    owner: row.owner as string,
    created_at: momentOf(row.created_at),
    updated_at: momentOf(row.updated_at),
    state_updated_at: momentOf(row.state_updated_at),
    metadata: JSON.parse(row.metadata as string),
    status: row.shown_status as ThreadRecord["status"],
    ...(row.config !== null && { config: JSON.parse(row.config as string) }),
    values: row.state_values === null ? null : JSON.parse(row.state_values as string),
    interrupts: JSON.parse(row.interrupts as string),
    ...(row.error !== null && { error: JSON.parse(row.error as string) }),
  };
}
