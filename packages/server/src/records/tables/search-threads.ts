/** How threads are found. */

import { type ByteLimit, fitting } from "@deepwright/checkpoint/sql";
import type { SearchThreads } from "@deepwright/protocol";
import type { Owner, ThreadHead, ThreadRecord } from "../records.ts";
import { searchedWords } from "../thread-words.ts";
import { Conditions, countOf, type Listing, orderOf, pageOf, type Verify } from "./conditions.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { addMetadata, verifying } from "./json-filter.ts";
import { momentOf } from "./run-row.ts";

export type ThreadFilters = Pick<
  SearchThreads,
  "metadata" | "values" | "status" | "ids" | "text" | "archived" | "trashed"
>;

export async function findThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
  mostBytes?: number,
): Promise<ThreadRecord | undefined> {
  if (mostBytes !== undefined)
    await fittingIds(database, session, [threadId], LARGE, 1, { page: mostBytes, one: mostBytes });
  const [thread] = await load(database, session, owner, [threadId], LARGE);
  return thread;
}

/** Without large fields. */
export async function findHead(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
): Promise<ThreadHead | undefined> {
  const [thread] = await load(database, session, owner, [threadId], {});
  if (thread === undefined) return undefined;
  const { values: _, interrupts: __, ...head } = thread;
  return head;
}

/** Finds the ids of a page first, then reads its threads: threads outside the page are not read. */
export async function searchThreads(
  database: Database,
  session: SqlSession,
  owner: Owner,
  query: SearchThreads,
  bytes: ByteLimit = { page: PAGE_BYTES },
): Promise<ThreadRecord[]> {
  const sorts = { ...SORTS, status: statusOf(database) };
  const order = orderOf(sorts, query.sort_by, query.sort_order, "t.position");
  const conditions = matching(database, owner, query);
  const listing = { ...listingFor(query), order };
  const rows = await pageOf(session, listing, conditions, query, verifyingOf(query));
  const ids = rows.map((row) => row.thread_id as string);
  const columns = columnsFor(query);
  const fit = await fittingIds(database, session, ids, columns, copiesIn(query), bytes);
  return load(database, session, owner, fit, columns);
}

/** Columns that may be large, and the fields of a thread that need them. */
const LARGE = { state_values: "values", interrupts: "interrupts", config: "config", error: "error" };

type Columns = Partial<typeof LARGE>;

/** Columns that neither `select` nor a path of `extract` names are not read. */
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

const PAGE_BYTES = 16 * 1024 * 1024;

/** The first ids that fit into one page. `copies`: how often the answer holds the values. */
async function fittingIds(
  database: Database,
  session: SqlSession,
  ids: readonly string[],
  columns: Columns,
  copies: number,
  most: ByteLimit,
): Promise<readonly string[]> {
  const sizes = [...Object.keys(columns), "metadata"].map(
    (column) =>
      `COALESCE(OCTET_LENGTH(${column}), 0)${column === "state_values" ? ` * ${Math.max(1, copies)}` : ""}`,
  );
  const rows = await session.all(
    `SELECT thread_id, ${sizes.join(" + ")} AS bytes FROM dw_srv_threads WHERE thread_id ${database.among("$1")}`,
    [database.list(ids)],
  );
  const sizeOf = new Map(rows.map((row) => [row.thread_id, Number(row.bytes ?? 0)]));
  return ids.slice(
    0,
    fitting(
      ids.map((id) => sizeOf.get(id) ?? 0),
      most,
    ),
  );
}

export function countThreads(
  database: Database,
  session: SqlSession,
  owner: Owner,
  query: ThreadFilters,
): Promise<number> {
  const conditions = matching(database, owner, query);
  return countOf(session, listingFor(query), conditions, verifyingOf(query));
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

/** The ids, with the columns that `verifyingOf` needs. */
function listingFor(query: ThreadFilters): Listing {
  const large = [...(query.metadata ? ["t.metadata"] : []), ...(query.values ? ["t.state_values"] : [])];
  return {
    columns: ["t.thread_id", ...large].join(", "),
    from: "dw_srv_threads t",
    bytes: ["0", ...large.map((column) => `COALESCE(OCTET_LENGTH(${column}), 0)`)].join(" + "),
    order: "t.position",
  };
}

function matching(database: Database, owner: Owner, query: ThreadFilters): Conditions {
  const conditions = new Conditions();
  conditions.add(`t.owner = ${conditions.bind(owner)}`);
  if (query.status === "busy") conditions.add(isBusy(database));
  else if (query.status) {
    conditions.add(`t.status = ${conditions.bind(query.status)} AND NOT ${isBusy(database)}`);
  }
  if (query.ids) conditions.add(`t.thread_id ${database.among(conditions.bind(database.list(query.ids)))}`);
  conditions.add(`t.trashed_at IS ${query.trashed ? "NOT NULL" : "NULL"}`);
  if (query.archived != null) conditions.add(`t.archived = ${query.archived ? 1 : 0}`);
  for (const word of searchedWords(query.text ?? "")) {
    const pattern = conditions.bind(`%${word.replaceAll(/[\\%_]/g, "\\$&")}%`);
    conditions.add(
      ["name_words", "words"].map((column) => `t.${column} LIKE ${pattern} ESCAPE '\\'`).join(" OR "),
    );
  }
  addMetadata(database, conditions, "thread", "t.owner, t.thread_id", [owner], query.metadata);
  return conditions;
}

function verifyingOf({ metadata, values }: ThreadFilters): Verify | undefined {
  const verify = verifying({ metadata, state_values: values });
  return verify && { ...verify, kept: ({ thread_id = "" }) => ({ thread_id }) };
}

const SMALL = `t.position, t.thread_id, t.owner, t.created_at, t.updated_at, t.state_updated_at, t.metadata,
  t.title, t.name, t.archived, t.trashed_at, t.expires_at`;

/** In the order of the ids; missing threads are left out. */
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
    title: (row.name ?? row.title ?? null) as string | null,
    ...(row.archived === 1 && { archived: true }),
    ...(row.trashed_at != null && {
      trashed_at: momentOf(row.trashed_at),
      ...(row.expires_at != null && { removed_at: momentOf(row.expires_at) }),
    }),
    ...(row.config != null && { config: JSON.parse(row.config as string) }),
    values: row.state_values == null ? null : JSON.parse(row.state_values as string),
    interrupts: row.interrupts == null ? {} : JSON.parse(row.interrupts as string),
    ...(row.error != null && { error: JSON.parse(row.error as string) }),
  };
}
