/** Threads, as rows where the database lives. */
import type { SearchThreads } from "@deepwright/protocol";
import { Conditions, countOf, orderOf, pageOf } from "./conditions.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { addMetadata, removeMarks, verifying, writeMarks } from "./json-filter.ts";
import type { Owner, ThreadRecord } from "./records.ts";
import { lockThread, momentOf } from "./run-row.ts";
import { removeRuns } from "./runs.ts";

/** What a thread shows, as text; undefined stays as it was. */
export interface ShownState {
  readonly status: string;
  readonly values: string | null;
  readonly interrupts: string;
  readonly error: string | null;
}

/** A new thread, its JSON as text. */
export interface NewThread extends ShownState {
  readonly threadId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly stateUpdatedAt: number;
  readonly metadata: Record<string, unknown>;
  readonly config: string | null;
  readonly expiresAt: number | null;
}

export interface ThreadChange {
  readonly metadata?: Record<string, unknown>;
  readonly expiresAt?: number;
}

type Filters = Pick<SearchThreads, "metadata" | "values" | "status" | "ids">;

export type ThreadRows = ReturnType<typeof threadRows>;

export function threadRows(database: Database) {
  const { read, write } = database;
  return {
    put: (
      owner: Owner,
      thread: NewThread,
      ifExists: "raise" | "do_nothing",
    ): Promise<ThreadRecord | "exists"> =>
      write((session) => putThread(database, session, owner, thread, ifExists)),

    get: (owner: Owner, threadId: string): Promise<ThreadRecord | undefined> =>
      read((session) => findThread(database, session, owner, threadId)),

    patch: (
      owner: Owner,
      threadId: string,
      change: ThreadChange,
      now: number,
    ): Promise<ThreadRecord | undefined> =>
      write((session) => patchThread(database, session, owner, threadId, change, now)),

    note: (threadId: string, state: ShownState, now: number): Promise<void> =>
      write(async (session) => {
        const { status, values, interrupts, error } = state;
        const change = status === "busy" ? "status = COALESCE(status, $6)" : "status = $6";
        await session.run(
          `UPDATE dw_srv_threads SET state_values = $2, interrupts = $3, error = $4, updated_at = $5,
            state_updated_at = $5, ${change} WHERE thread_id = $1`,
          [threadId, values, interrupts, error, now, status],
        );
      }),

    search: (owner: Owner, query: SearchThreads): Promise<ThreadRecord[]> =>
      read(async (session) => {
        const conditions = matching(database, owner, query);
        const order = orderOf(SORTS, query.sort_by, query.sort_order, "position");
        const select = `SELECT * FROM (${shown(database)}) AS t`;
        const rows = await pageOf(session, select, conditions, order, query, verifyingOf(query));
        return rows.map(threadOf);
      }),

    count: (owner: Owner, query: Omit<Filters, "ids">): Promise<number> =>
      read((session) => {
        const select = `SELECT position, metadata, state_values FROM (${shown(database)}) AS t`;
        const conditions = matching(database, owner, query);
        return countOf(session, select, conditions, "position", verifyingOf(query));
      }),

    delete: (owner: Owner, threadId: string): Promise<boolean> =>
      write((session) => deleteThread(database, session, owner, threadId)),

    expired: (limit: number): Promise<{ owner: Owner; threadId: string }[]> =>
      read(async (session) => {
        const rows = await session.all(
          `SELECT owner, thread_id FROM dw_srv_threads WHERE expires_at <= ${database.clock}
            ORDER BY expires_at LIMIT $1`,
          [limit],
        );
        return rows.map((row) => ({ owner: row.owner as string, threadId: row.thread_id as string }));
      }),
  };
}

const SORTS = {
  thread_id: "thread_id",
  status: "shown_status",
  created_at: "created_at",
  updated_at: "updated_at",
  state_updated_at: "state_updated_at",
};

/** Threads with the status clients see: `busy` while a run is at work or may begin. */
function shown({ clock }: Database): string {
  return `SELECT h.*, CASE WHEN EXISTS (SELECT 1 FROM dw_srv_runs r WHERE r.thread_id = h.thread_id
    AND r.open = 1 AND (r.status = 'running' OR r.not_before <= ${clock})) THEN 'busy' ELSE h.status END AS shown_status
    FROM dw_srv_threads h`;
}

function matching(database: Database, owner: Owner, query: Filters): Conditions {
  const conditions = new Conditions();
  conditions.add(`t.owner = ${conditions.bind(owner)}`);
  if (query.status) conditions.add(`t.shown_status = ${conditions.bind(query.status)}`);
  if (query.ids) conditions.add(`t.thread_id ${database.among(conditions.bind(database.list(query.ids)))}`);
  addMetadata(conditions, "t.owner", "thread:", "t.thread_id", query.metadata);
  return conditions;
}

function verifyingOf(query: Filters) {
  return verifying([
    ["metadata", query.metadata],
    ["state_values", query.values],
  ]);
}

async function findThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
): Promise<ThreadRecord | undefined> {
  const [row] = await session.all(
    `SELECT * FROM (${shown(database)}) AS t WHERE t.thread_id = $1 AND t.owner = $2`,
    [threadId, owner],
  );
  return row && threadOf(row);
}

async function putThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  thread: NewThread,
  ifExists: "raise" | "do_nothing",
): Promise<ThreadRecord | "exists"> {
  if (await lockThread(database, session, thread.threadId)) {
    const found = await findThread(database, session, owner, thread.threadId);
    return found !== undefined && (ifExists === "do_nothing" || isSame(found, thread)) ? found : "exists";
  }
  await session.run(
    `INSERT INTO dw_srv_threads (thread_id, owner, status, created_at, updated_at, state_updated_at, expires_at,
      metadata, config, state_values, interrupts, error, last_run, last_fence)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0)`,
    [
      thread.threadId,
      owner,
      thread.status === "busy" ? "idle" : thread.status,
      thread.createdAt,
      thread.updatedAt,
      thread.stateUpdatedAt,
      thread.expiresAt,
      JSON.stringify(thread.metadata),
      thread.config,
      thread.values,
      thread.interrupts,
      thread.error,
    ],
  );
  await writeMarks(database, session, owner, "thread:", thread.threadId, thread.metadata);
  return (await findThread(database, session, owner, thread.threadId)) as ThreadRecord;
}

/** Put again after its answer got lost, it is the one that was put. */
function isSame(found: ThreadRecord, thread: NewThread): boolean {
  const sameWords = JSON.stringify(found.metadata) === JSON.stringify(thread.metadata);
  return (
    sameWords && Date.parse(found.created_at) === thread.createdAt && found.updated_at === found.created_at
  );
}

async function patchThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
  change: ThreadChange,
  now: number,
): Promise<ThreadRecord | undefined> {
  await lockThread(database, session, threadId);
  const found = await findThread(database, session, owner, threadId);
  if (found === undefined) return undefined;
  const metadata = { ...found.metadata, ...change.metadata };
  await session.run(
    "UPDATE dw_srv_threads SET metadata = $1, updated_at = $2 WHERE thread_id = $3 AND owner = $4",
    [JSON.stringify(metadata), now, threadId, owner],
  );
  if (change.expiresAt !== undefined) {
    await session.run("UPDATE dw_srv_threads SET expires_at = $1 WHERE thread_id = $2 AND owner = $3", [
      Math.ceil(change.expiresAt),
      threadId,
      owner,
    ]);
  }
  if (change.metadata) await writeMarks(database, session, owner, "thread:", threadId, metadata);
  return findThread(database, session, owner, threadId);
}

async function deleteThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
): Promise<boolean> {
  const [found] = await session.all(
    `SELECT position FROM dw_srv_threads WHERE thread_id = $1 AND owner = $2${database.lock}`,
    [threadId, owner],
  );
  if (found === undefined) return false;
  await removeRuns(session, "thread_id = $1", threadId);
  await removeMarks(session, owner, "thread:", threadId);
  for (const table of ["dw_srv_mail", "dw_srv_crons", "dw_srv_threads"]) {
    await session.run(`DELETE FROM ${table} WHERE thread_id = $1`, [threadId]);
  }
  return true;
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
