/** Threads in a SQL database. */
import { randomUUID } from "node:crypto";
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
  ThreadSize,
  ThreadStorage,
  TupleRows,
} from "../storage/storage.ts";
import { listRows, readTuple } from "./checkpoints.ts";
import { claim, release } from "./claims.ts";
import { copyThread } from "./copy-thread.ts";
import type { Dialect } from "./dialect.ts";
import { listImages } from "./images.ts";
import { loadObjects } from "./objects.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { put } from "./put.ts";
import { migrate, THREAD_MIGRATIONS } from "./schema.ts";
import type { Sql, TransactionOptions } from "./sql.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import { epochOf, factsOf, listThreads, setFacts } from "./threads.ts";
import { deleteThread } from "./upkeep/delete-thread.ts";
import { prune } from "./upkeep/prune.ts";
import { threadSize } from "./upkeep/thread-size.ts";
import type { Work } from "./work.ts";

export class SqlStorage implements ThreadStorage {
  readonly #sql: Sql;
  readonly #dialect: Dialect;
  readonly backup: ((path: string) => Promise<void>) | undefined;
  readonly erase: (() => Promise<void>) | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#dialect = sql.dialect === "sqlite" ? sqliteDialect : postgresDialect;
    this.backup = sql.backup?.bind(sql);
    this.erase = sql.erase?.bind(sql);
  }

  /** Makes or updates the tables. Everything else expects them. */
  async start(): Promise<void> {
    await migrate(this.#sql, this.#dialect, "threads", THREAD_MIGRATIONS);
  }

  put(batch: PutBatch): Promise<PutResult> {
    return this.#write((work) => put(work, batch));
  }

  readTuple(
    threadId: string,
    namespace: string,
    checkpointId: string | undefined,
  ): Promise<TupleRows | undefined> {
    return this.#read((work) => readTuple(work, threadId, namespace, checkpointId));
  }

  listRows(query: RowQuery): Promise<readonly TupleRows[]> {
    return this.#read((work) => listRows(work, query));
  }

  /** Ids that no longer exist are left out. */
  loadObjects(
    ids: readonly number[],
    known: readonly number[] = [],
    mostBytes?: number,
  ): Promise<readonly StoredObject[]> {
    return this.#read((work) => loadObjects(work, ids, known, mostBytes));
  }

  epochOf(threadId: string): Promise<number> {
    return this.#read((work) => epochOf(work, threadId));
  }

  async deleteThread(threadId: string, fence?: number): Promise<void> {
    await this.#write((work) => deleteThread(work, threadId, fence));
    await this.#sql.reclaim?.();
  }

  copyThread(from: string, to: string, now: number): Promise<void> {
    const copier = `copy:${randomUUID()}`;
    return this.#write((work) => copyThread(work, from, to, now, copier));
  }

  async prune(query: PruneQuery): Promise<PruneResult> {
    const result = await prune((act) => this.#write(act, SLOW), query);
    await this.#sql.reclaim?.();
    return result;
  }

  listThreads(query: ThreadQuery): Promise<readonly ThreadFacts[]> {
    return this.#read((work) => listThreads(work, query));
  }

  thread(threadId: string): Promise<ThreadFacts | undefined> {
    return this.#read((work) => factsOf(work, threadId));
  }

  setFacts(threadId: string, facts: FactChanges): Promise<void> {
    return this.#write((work) => setFacts(work, threadId, facts));
  }

  listImages(threadId: string): Promise<readonly ImageRow[]> {
    return this.#read((work) => listImages(work, threadId));
  }

  claim(threadId: string, holder: string, ttlMs: number, fence?: number): Promise<ClaimAnswer> {
    return this.#write((work) => claim(work, threadId, holder, ttlMs, fence));
  }

  release(threadId: string, fence: number): Promise<void> {
    return this.#write((work) => release(work, threadId, fence));
  }

  async counts(): Promise<StorageCounts> {
    return { bytesWritten: this.#sql.bytesWritten };
  }

  threadSize(threadId: string): Promise<ThreadSize> {
    return this.#read((work) => threadSize(work, threadId), SLOW);
  }

  async size(): Promise<number> {
    await this.#sql.reclaim?.();
    const { sizeQuery } = this.#dialect;
    if (this.#sql.size !== undefined || sizeQuery === undefined) return (await this.#sql.size?.()) ?? 0;
    const [row] = await this.#read(async ({ session }) => session.all(sizeQuery), SLOW);
    return Number(row?.size ?? 0);
  }

  close(): Promise<void> {
    return this.#sql.close();
  }

  #write<T>(act: (work: Work) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#sql.write((session) => act({ session, dialect: this.#dialect }), options);
  }

  #read<T>(act: (work: Work) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#sql.read((session) => act({ session, dialect: this.#dialect }), options);
  }
}

/** Looks at all that is stored. */
const SLOW = { isSlow: true };
