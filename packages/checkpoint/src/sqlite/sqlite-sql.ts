import { setTimeout as sleep } from "node:timers/promises";
import { durationMs } from "deepwright/duration";
import { DeepwrightError } from "deepwright/errors";
import type { Sql, SqlRow, SqlSession, SqlValue } from "../sql/sql.ts";
import { damaged } from "../storage/damaged.ts";
import { backupTo } from "./backup.ts";
import { checkPages, fileBytes, IN_MEMORY, needsCheck, prepareFile } from "./database-file.ts";
import { type Database, openDatabase, type Statement } from "./driver.ts";
import { isBusy, isFull, isTooLarge, stillRead, storageError } from "./sqlite-errors.ts";

export interface SqliteOptions {
  /** Seconds to wait for other processes that hold the file. Default 30. */
  readonly busyTimeout?: number;
}

const DEFAULT_BUSY_SECONDS = 30;
/** Longest wait inside SQLite, where nothing else of this thread runs and it cannot be ended. */
const NATIVE_WAIT_MS = 200;
const PAUSE_MS = 5;

interface Prepared {
  readonly statement: Statement;
  /** Whether the statement writes its parameters. */
  readonly writes: boolean;
}

/**
 * SQLite, in this thread. Transactions run one after another.
 *
 * In WAL mode every commit is synced, so acknowledged writes survive a loss of power.
 */
export class SqliteSql implements Sql, SqlSession {
  readonly dialect = "sqlite";
  readonly path: string;
  readonly #database: Database;
  readonly #busyMs: number;
  readonly #statements = new Map<string, Prepared>();
  #last: Promise<unknown> = Promise.resolve();
  #bytesWritten = 0;
  #pending = 0;
  #closed = false;

  private constructor(path: string, database: Database, busyMs: number) {
    this.path = path;
    this.#database = database;
    this.#busyMs = busyMs;
  }

  static async open(path: string, options: SqliteOptions = {}): Promise<SqliteSql> {
    const busyMs = durationMs("busyTimeout", options.busyTimeout ?? DEFAULT_BUSY_SECONDS, {
      unit: "seconds",
      zero: true,
    });
    const timeout = Math.min(NATIVE_WAIT_MS, busyMs);
    prepareFile(path);
    try {
      const database = await whileBusy(busyMs, () => connect(path, timeout));
      return new SqliteSql(path, database, busyMs);
    } catch (error) {
      throw storageError(error, path);
    }
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  write<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#transact("BEGIN IMMEDIATE", work));
  }

  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#transact("BEGIN", work));
  }

  all(sql: string, params: readonly SqlValue[] = []): SqlRow[] {
    const { statement, writes } = this.#prepare(sql);
    const rows = allRows(statement, bound(params), /^\s*SELECT/i.test(sql));
    if (writes) this.#count(params);
    return rows;
  }

  run(sql: string, params: readonly SqlValue[] = []): number {
    const { statement, writes } = this.#prepare(sql);
    const { changes } = statement.run(...bound(params));
    if (writes) this.#count(params);
    return Number(changes);
  }

  insert(sql: string, params: readonly SqlValue[]): number {
    const { statement } = this.#prepare(sql);
    const { lastInsertRowid } = statement.run(...bound(params));
    this.#count(params);
    return Number(lastInsertRowid);
  }

  /**
   * Also empties the log, which has the pages as they were before. Needs the file to itself and some space for a
   * while; without them the next one does it.
   */
  reclaim(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        this.#database.exec("PRAGMA incremental_vacuum");
        emptyLog(this.#database);
      } catch (error) {
        if (!isBusy(error) && !isFull(error)) throw error;
      }
    });
  }

  /**
   * SQLite leaves copies of rows in unused parts of pages when it divides a page, secure_delete or not: only writing
   * the file anew leaves none.
   */
  erase(): Promise<void> {
    return this.#inTurn(() => whileBusy(this.#busyMs, () => rewrite(this.#database)));
  }

  /** Also empties the log. */
  size(): Promise<number> {
    return this.#inTurn(async () => {
      emptyLog(this.#database);
      if (this.path === IN_MEMORY) return pageBytes(this.#database);
      return fileBytes(this.path) + fileBytes(`${this.path}-wal`);
    });
  }

  backup(target: string): Promise<void> {
    return this.#inTurn(() => whileBusy(this.#busyMs, () => backupTo(this.#database, target)));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#inTurn(async () => {
      this.#closed = true;
      this.#statements.clear();
      this.#database.close();
    });
  }

  async #transact<T>(begin: string, work: (session: SqlSession) => Promise<T>): Promise<T> {
    return whileBusy(this.#busyMs, async () => {
      this.#pending = 0;
      this.#database.exec(begin);
      try {
        const result = await work(this);
        this.#database.exec("COMMIT");
        this.#bytesWritten += this.#pending;
        return result;
      } catch (error) {
        rollBack(this.#database);
        throw error;
      }
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      if (this.#closed) throw new DeepwrightError("STORAGE_CLOSED", `${this.path} was closed.`);
      try {
        return await work();
      } catch (error) {
        throw storageError(error, this.path);
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    const prepared = { statement, writes: /^\s*(INSERT|UPDATE)/i.test(sql) };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #count(params: readonly SqlValue[]): void {
    for (const value of params) this.#pending += lengthOf(value);
  }
}

/** Runs again, after a pause in which other work of this thread goes on, while others hold the file. */
async function whileBusy<T>(busyMs: number, act: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + busyMs;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

function connect(path: string, timeout: number): Database {
  const check = needsCheck(path);
  const database = openDatabase(path, { timeout, enableForeignKeyConstraints: false });
  try {
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    // Without it macOS leaves synced data in the cache of the disk. It has no effect elsewhere.
    database.exec("PRAGMA fullfsync = ON");
    // Deleted rows are overwritten with zeros. A delete takes twice as long, other writes as long as without.
    database.exec("PRAGMA secure_delete = ON");
    database.exec("PRAGMA journal_size_limit = 8388608");
    database.exec("PRAGMA cache_size = -8192");
    database.exec("PRAGMA temp_store = MEMORY");
    database.function("dw_uptime", uptimeMs);
    if (check) checkPages(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** One clock for all processes of the machine. It starts again with a boot, and cannot be set. */
function uptimeMs(): number {
  return Math.floor(Number(process.hrtime.bigint()) / 1e6);
}

/** Empties the log as far as readers of other processes allow; returns whether it is empty. */
function emptyLog(database: Database): boolean {
  const [row] = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all() as { busy: number }[];
  return row?.busy === 0;
}

function rewrite(database: Database): void {
  // The new file would be in memory as a whole.
  database.exec("PRAGMA temp_store = FILE");
  try {
    database.exec("VACUUM");
  } finally {
    database.exec("PRAGMA temp_store = MEMORY");
    database.function("dw_uptime", uptimeMs);
  }
  if (!emptyLog(database)) throw stillRead();
}

/** A number of an edited row may be too large for the driver: then it is read as a bigint. */
function allRows(statement: Statement, params: readonly SqlValue[], mayRepeat: boolean): SqlRow[] {
  try {
    return statement.all(...params) as SqlRow[];
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    if (!mayRepeat) throw damaged("a number is too large");
  }
  statement.setReadBigInts(true);
  try {
    return (statement.all(...params) as SqlRow[]).map(withNumbers);
  } finally {
    statement.setReadBigInts(false);
  }
}

function withNumbers(row: SqlRow): SqlRow {
  const isNumber = (value: unknown) => typeof value === "bigint" && Number.isSafeInteger(Number(value));
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, isNumber(value) ? Number(value) : value]),
  );
}

/** SQLite ends a text at NUL, silently; that would make two keys one. */
function bound(params: readonly SqlValue[]): readonly SqlValue[] {
  for (const value of params) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new DeepwrightError("VALUE_NOT_STORABLE", "A text with NUL in it cannot be stored here.");
    }
  }
  return params;
}

function lengthOf(value: SqlValue): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return value === null ? 0 : 8;
}

/** After some failures SQLite has already rolled back. */
function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    return;
  }
}

function pageBytes(database: Database): number {
  const [count] = database.prepare("PRAGMA page_count").all() as { page_count: number }[];
  const [size] = database.prepare("PRAGMA page_size").all() as { page_size: number }[];
  return (count?.page_count ?? 0) * (size?.page_size ?? 0);
}
