/** Threads in an SQLite file, seen from the event loop: every call is answered by the file's own thread. */
import { resolve } from "node:path";
import type {
  ClaimAnswer,
  FactChanges,
  ImageRow,
  PruneQuery,
  PruneResult,
  PutBatch,
  PutResult,
  RowQuery,
  StorageCounts,
  StoredObject,
  ThreadFacts,
  ThreadQuery,
  ThreadStorage,
  TupleRows,
} from "../storage/storage.ts";
import { objectsOf } from "./columns.ts";
import { type Connection, openConnection } from "./connection.ts";
import type { SqliteOptions } from "./sqlite-sql.ts";

export type { SqliteOptions };

/** `:memory:` is a database of its own that ends with its storage. */
export async function openSqliteStorage(path: string, options: SqliteOptions = {}): Promise<SqliteStorage> {
  const connection = await openConnection(path, options);
  try {
    await connection.call("storage", "counts", []);
    return new SqliteStorage(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export class SqliteStorage implements ThreadStorage {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  put(batch: PutBatch): Promise<PutResult> {
    return this.#call("put", batch);
  }

  readTuple(
    threadId: string,
    namespace: string,
    checkpointId: string | undefined,
  ): Promise<TupleRows | undefined> {
    return this.#call("readTuple", threadId, namespace, checkpointId);
  }

  listRows(query: RowQuery): Promise<readonly TupleRows[]> {
    return this.#call("listRows", query);
  }

  async loadObjects(
    ids: readonly number[],
    known?: readonly number[],
    mostBytes?: number,
  ): Promise<readonly StoredObject[]> {
    return objectsOf(await this.#call("loadColumns", ids, known, mostBytes));
  }

  epochOf(threadId: string): Promise<number> {
    return this.#call("epochOf", threadId);
  }

  deleteThread(threadId: string, fence?: number): Promise<void> {
    return this.#call("deleteThread", threadId, fence);
  }

  copyThread(from: string, to: string, now: number): Promise<void> {
    return this.#call("copyThread", from, to, now);
  }

  prune(query: PruneQuery): Promise<PruneResult> {
    return this.#call("prune", query);
  }

  listThreads(query: ThreadQuery): Promise<readonly ThreadFacts[]> {
    return this.#call("listThreads", query);
  }

  thread(threadId: string): Promise<ThreadFacts | undefined> {
    return this.#call("thread", threadId);
  }

  setFacts(threadId: string, facts: FactChanges): Promise<void> {
    return this.#call("setFacts", threadId, facts);
  }

  listImages(threadId: string): Promise<readonly ImageRow[]> {
    return this.#call("listImages", threadId);
  }

  claim(threadId: string, holder: string, ttlMs: number, fence?: number): Promise<ClaimAnswer> {
    return this.#call("claim", threadId, holder, ttlMs, fence);
  }

  release(threadId: string, fence: number): Promise<void> {
    return this.#call("release", threadId, fence);
  }

  /** Counts of everything this process opened on the file. */
  counts(): Promise<StorageCounts> {
    return this.#call("counts");
  }

  size(): Promise<number> {
    return this.#call("size");
  }

  erase(): Promise<void> {
    return this.#call("erase");
  }

  backup(path: string): Promise<void> {
    return this.#call("backup", resolve(path));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #call<T>(method: keyof ThreadStorage | "loadColumns", ...args: readonly unknown[]): Promise<T> {
    return (await this.#connection.call("storage", method, args)) as T;
  }
}
