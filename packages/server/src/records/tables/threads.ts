/** Threads, as rows where the database lives. */

import type { ByteLimit } from "@deepwright/checkpoint/sql";
import type { SearchThreads } from "@deepwright/protocol";
import {
  EVERYONE,
  type Owner,
  type RetiredThread,
  type ThreadChange,
  type ThreadHead,
  type ThreadKey,
  type ThreadRecord,
} from "../records.ts";
import { endCompletion } from "./completions.ts";
import type { Database, SqlSession } from "./database.ts";
import { addMarks, removeMarks, writeMarks } from "./json-filter.ts";
import { lockThread } from "./run-row.ts";
import { removeRuns } from "./runs.ts";
import { countThreads, findHead, findThread, searchThreads, type ThreadFilters } from "./search-threads.ts";
import { cancelTasksOf, endTask, lockParent } from "./task-ends.ts";

/** The state of a thread in listings, as text; undefined keeps the stored value. */
export interface ShownState {
  readonly status: string;
  readonly values: string | null;
  readonly interrupts: string;
  readonly error: string | null;
  /** Made of the first message. Once set it stays. */
  readonly title: string | null;
  /** Text for searches. */
  readonly words: string | null;
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

/** No row has this number. */
const NOT_STORED = 0;

export function threadRows(database: Database) {
  const { read, write } = database;
  return {
    put: (
      owner: Owner,
      thread: NewThread,
      ifExists: "raise" | "do_nothing",
    ): Promise<ThreadRecord | "exists"> =>
      write((session) => putThread(database, session, owner, thread, ifExists)),

    get: (owner: Owner, threadId: string, mostBytes?: number): Promise<ThreadRecord | undefined> =>
      read((session) => findThread(database, session, owner, threadId, mostBytes)),

    head: (owner: Owner, threadId: string): Promise<ThreadHead | undefined> =>
      read((session) => findHead(database, session, owner, threadId)),

    patch: (
      owner: Owner,
      threadId: string,
      change: ThreadChange,
      now: number,
    ): Promise<ThreadRecord | undefined> =>
      write((session) => patchThread(database, session, owner, threadId, change, now)),

    note: ({ owner, incarnation }: ThreadKey, state: ShownState, now: number): Promise<void> =>
      write((session) => noteState(session, { owner, incarnation }, state, now)),

    search: (owner: Owner, query: SearchThreads, bytes?: ByteLimit): Promise<ThreadRecord[]> =>
      read((session) => searchThreads(database, session, owner, query, bytes)),

    count: (owner: Owner, query: ThreadFilters): Promise<number> =>
      read((session) => countThreads(database, session, owner, query)),

    delete: (owner: Owner, threadId: string, now: number): Promise<boolean> =>
      write((session) => deleteThread(database, session, owner, threadId, now)),

    has: ({ owner, thread_id, incarnation }: ThreadKey): Promise<boolean> =>
      read(async (session) => {
        const rows = await session.all(
          "SELECT position FROM dw_srv_threads WHERE thread_id = $1 AND owner = $2 AND position = $3",
          [thread_id, owner, incarnation ?? NOT_STORED],
        );
        return rows.length > 0;
      }),

    isTaken: (threadId: string): Promise<boolean> =>
      read(async (session) => {
        const rows = await session.all("SELECT position FROM dw_srv_threads WHERE thread_id = $1", [
          threadId,
        ]);
        return rows.length > 0;
      }),

    retire: (
      owner: Owner,
      threadId: string,
      incarnation: number | undefined,
      now: number,
    ): Promise<RetiredThread | "busy" | undefined> =>
      write((session) => retireThread(database, session, { owner, threadId, incarnation }, now)),

    drop: ({ thread_id, incarnation }: RetiredThread): Promise<void> =>
      write(async (session) => {
        await session.run(
          "DELETE FROM dw_srv_threads WHERE thread_id = $1 AND position = $2 AND owner = $3",
          [thread_id, incarnation ?? NOT_STORED, EVERYONE],
        );
      }),

    expired: (limit: number): Promise<ThreadKey[]> =>
      read((session) => expiredThreads(database, session, limit)),
  };
}

async function expiredThreads({ clock }: Database, session: SqlSession, limit: number): Promise<ThreadKey[]> {
  const rows = await session.all(
    `SELECT owner, thread_id, position FROM dw_srv_threads WHERE expires_at <= ${clock}
      OR (owner = $2 AND expires_at > ${clock} + ${2 * RETIRED_MS}) ORDER BY expires_at LIMIT $1`,
    [Math.max(0, limit), EVERYONE],
  );
  return rows.map((row) => ({
    owner: row.owner as string,
    thread_id: row.thread_id as string,
    incarnation: row.position as number,
  }));
}

async function noteState(
  session: SqlSession,
  { owner, incarnation }: Pick<ThreadKey, "owner" | "incarnation">,
  { status, values, interrupts, error, title, words }: ShownState,
  now: number,
): Promise<void> {
  const change = status === "busy" ? "status = COALESCE(status, $6)" : "status = $6";
  await session.run(
    `UPDATE dw_srv_threads SET state_values = $2, interrupts = $3, error = $4, updated_at = $5,
      state_updated_at = $5, ${change}, title = COALESCE(title, $8), words = $9
      WHERE position = $1 AND owner = $7`,
    [incarnation ?? NOT_STORED, values, interrupts, error, now, status, owner, title, words],
  );
}

/** Runs inside a transaction of the caller. */
export async function putThread(
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
      metadata, config, state_values, interrupts, error, title, words, last_run, last_fence)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, 0)`,
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
      thread.title,
      thread.words,
    ],
  );
  await addMarks(database, session, owner, "thread", thread.threadId, thread.metadata);
  return (await findThread(database, session, owner, thread.threadId)) as ThreadRecord;
}

/** Whether the request repeats an earlier one whose answer was lost. */
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
  await labelThread(session, found.incarnation ?? NOT_STORED, change, now);
  if (change.metadata) await writeMarks(database, session, owner, "thread", threadId, metadata);
  return findThread(database, session, owner, threadId);
}

/** Its name, and whether it is put away or in the trash. An expiry that it had before is kept for its way back. */
async function labelThread(
  session: SqlSession,
  position: number,
  { title, archived, trashedUntil }: ThreadChange,
  now: number,
): Promise<void> {
  if (title !== undefined)
    await session.run("UPDATE dw_srv_threads SET name = $1, name_words = $2 WHERE position = $3", [
      title,
      title?.toLowerCase() ?? null,
      position,
    ]);
  if (archived !== undefined)
    await session.run("UPDATE dw_srv_threads SET archived = $1 WHERE position = $2", [
      archived ? 1 : 0,
      position,
    ]);
  if (trashedUntil === null)
    await session.run(
      `UPDATE dw_srv_threads SET expires_at = kept_expiry, kept_expiry = NULL, trashed_at = NULL
        WHERE position = $1 AND trashed_at IS NOT NULL`,
      [position],
    );
  else if (trashedUntil !== undefined)
    await session.run(
      `UPDATE dw_srv_threads SET kept_expiry = expires_at, expires_at = $1, trashed_at = $2
        WHERE position = $3 AND trashed_at IS NULL`,
      [Math.ceil(trashedUntil), now, position],
    );
}

async function deleteThread(
  database: Database,
  session: SqlSession,
  owner: Owner,
  threadId: string,
  now: number,
): Promise<boolean> {
  const parent = await lockParent(database, session, threadId);
  const [found] = await session.all(
    `SELECT position FROM dw_srv_threads WHERE thread_id = $1 AND owner = $2${database.lock}`,
    [threadId, owner],
  );
  if (found === undefined) return false;
  await emptyThread(database, session, { owner, threadId, parent }, now);
  await session.run("DELETE FROM dw_srv_threads WHERE thread_id = $1", [threadId]);
  return true;
}

/** Housekeeping leaves a retired thread to the process that retired it for so long. */
const RETIRED_MS = 60_000;

/** The row stays, and keeps its id from others, until `drop`. */
async function retireThread(
  database: Database,
  session: SqlSession,
  { owner, threadId, incarnation }: { owner: Owner; threadId: string; incarnation: number | undefined },
  now: number,
): Promise<RetiredThread | "busy" | undefined> {
  const parent = await lockParent(database, session, threadId);
  const [found] = await session.all(
    `SELECT position, owner FROM dw_srv_threads WHERE thread_id = $1 AND (owner = $2 OR (owner = $3
      AND former_owner = $2))${database.lock}`,
    [threadId, owner, EVERYONE],
  );
  if (found === undefined || (incarnation ?? found.position) !== found.position) return undefined;
  const retired = { owner: EVERYONE, thread_id: threadId, incarnation: found.position as number } as const;
  if (found.owner === EVERYONE) return retired;
  const open = await session.all(
    "SELECT position FROM dw_srv_runs WHERE thread_id = $1 AND open = 1 LIMIT 1",
    [threadId],
  );
  if (open.length > 0) return "busy";
  await emptyThread(database, session, { owner, threadId, parent }, now);
  await session.run(
    `UPDATE dw_srv_threads SET owner = $1, former_owner = $2, expires_at = ${database.clock} + $3,
      config = NULL, state_values = NULL, interrupts = '{}', error = NULL, title = NULL, name = NULL,
      name_words = NULL, words = NULL WHERE position = $4`,
    [EVERYONE, owner, RETIRED_MS, found.position as number],
  );
  return retired;
}

/** Under the locks of the thread and its parent: everything that belongs to it but its own row. */
async function emptyThread(
  database: Database,
  session: SqlSession,
  { owner, threadId, parent }: { owner: Owner; threadId: string; parent: string | undefined },
  now: number,
): Promise<void> {
  await removeRuns(session, "thread_id = $1", threadId);
  await cancelTasksOf(database, session, threadId, now);
  await session.run("DELETE FROM dw_srv_tasks WHERE parent = $1", [threadId]);
  await endCompletion(database, session, threadId);
  await session.run("DELETE FROM dw_srv_remote_tasks WHERE parent = $1 AND state = 'over'", [threadId]);
  if (parent !== undefined) await endTask(session, parent, threadId, "cancelled");
  await removeMarks(session, owner, "thread", threadId);
  for (const table of ["dw_srv_mail", "dw_srv_crons", "dw_srv_tasks"]) {
    await session.run(`DELETE FROM ${table} WHERE thread_id = $1`, [threadId]);
  }
}
