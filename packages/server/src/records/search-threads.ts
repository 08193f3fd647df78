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
  const [thread] = await load(database, session, owner, [threadId], LARGE);
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
  const ids = rows.map((row) => row.thread_id as string);
  const columns = columnsFor(query);
  return load(database, session, owner, await fitting(database, session, ids, copiesIn(query)), columns);
}

/** Columns that may be large, and the fields of a thread that need them. */
const LARGE = { state_values: "values", interrupts: "interrupts", config: "config", error: "error" };

type Columns = Partial<typeof LARGE>;

/** What neither `select` nor a path of `extract` names is not read. */
function columnsFor({ select, extract }: SearchThreads): Columns {
  if (!select || select.length === 0) return LARGE;
  const named = new Set<string>([...select, ...Object.values(extract ?? {}).map(firstStep)]);
  return Object.fromEntries(Object.entries(LARGE).filter(([, field]) => named.has(field)));
}

/** As paths are read. */
const firstStep = (path: string): string => /[^.[\]]+(?=[.[]|$)/.exec(path)?.[0] ?? "";

/** How often the values of a thread may be in the answer. */
function copiesIn({ select, extract }: SearchThreads): number {
  const isWhole = !select || select.length === 0 || select.includes("values");
  const parts = Object.values(extract ?? {}).filter((path) => firstStep(path) === "values");
  return parts.length + (isWhole ? 1 : 0);
}

/** A page has at most as many bytes of values, and one thread at least. */
const PAGE_BYTES = 64 * 1024 * 1024;

/** The first ones, as many as are one page. */
async function fitting(
  database: Database,
  session: SqlSession,
  ids: readonly string[],
  copies: number,
): Promise<readonly string[]> {
  if (copies === 0 || ids.length <= 1) return ids;
  const rows = await session.all(
    `SELECT thread_id, OCTET_LENGTH(state_values) AS bytes FROM dw_srv_threads
      WHERE thread_id ${database.among("$1")}`,
    [database.list(ids)],
  );
  const sizes = new Map(rows.map((row) => [row.thread_id, (row.bytes as number | null) ?? 0]));
  let bytes = 0;
  const end = ids.findIndex((id, index) => {
    bytes += (sizes.get(id) ?? 0) * copies;
    return index > 0 && bytes > PAGE_BYTES;
  });
  return end === -1 ? ids : ids.slice(0, end);
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

const SMALL = "t.position, t.thread_id, t.owner, t.created_at, t.updated_at, t.state_updated_at, t.metadata";

/** In the order of the ids; those that are not there are left out. */
async function load(
  database: Database,
  session: SqlSession,
  owner: Owner,
  ids: readonly string[],
  columns: Columns,
): Promise<ThreadRecord[]> {
  if (ids.length === 0) return [];
  const large = Object.keys(columns).map((column) => `t.${column}, `);
  const rows = await session.all(
    `SELECT ${SMALL}, ${large.join("")}${statusOf(database)} AS shown_status FROM dw_srv_threads t
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
    incarnation: row.position as number,
    created_at: momentOf(row.created_at),
    updated_at: momentOf(row.updated_at),
    state_updated_at: momentOf(row.state_updated_at),
    metadata: JSON.parse(row.metadata as string),
    status: row.shown_status as ThreadRecord["status"],
    ...(row.config != null && { config: JSON.parse(row.config as string) }),
    values: row.state_values == null ? null : JSON.parse(row.state_values as string),
    interrupts: row.interrupts == null ? {} : JSON.parse(row.interrupts as string),
    ...(row.error != null && { error: JSON.parse(row.error as string) }),
  };
}
