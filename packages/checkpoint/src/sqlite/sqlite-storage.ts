/** Threads in an SQLite file, seen from the event loop: every call is answered by the file's own thread. */
import { resolve } from "node:path";
import type { ThreadStorage } from "../storage/storage.ts";
import { type ObjectColumns, objectsOf } from "./columns.ts";
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

type Method = { [Name in keyof ThreadStorage]-?: NonNullable<ThreadStorage[Name]> };

export class SqliteStorage implements ThreadStorage {
  readonly #connection: Connection;
  readonly put = this.#forward("put");
  readonly readTuple = this.#forward("readTuple");
  readonly listRows = this.#forward("listRows");
  readonly epochOf = this.#forward("epochOf");
  readonly deleteThread = this.#forward("deleteThread");
  readonly copyThread = this.#forward("copyThread");
  readonly prune = this.#forward("prune");
  readonly listThreads = this.#forward("listThreads");
  readonly thread = this.#forward("thread");
  readonly setFacts = this.#forward("setFacts");
  readonly listImages = this.#forward("listImages");
  readonly claim = this.#forward("claim");
  readonly release = this.#forward("release");
  /** Counts of everything this process opened on the file. */
  readonly counts = this.#forward("counts");
  readonly size = this.#forward("size");
  readonly threadSize = this.#forward("threadSize");
  readonly erase = this.#forward("erase");

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async loadObjects(...args: Parameters<ThreadStorage["loadObjects"]>) {
    return objectsOf((await this.#call("loadColumns", args)) as ObjectColumns);
  }

  async backup(path: string): Promise<void> {
    await this.#call("backup", [resolve(path)]);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** The method of this name in the database's own thread. */
  #forward<Name extends keyof Method>(name: Name): Method[Name] {
    const method = (...args: readonly unknown[]) => this.#call(name, args);
    return method as unknown as Method[Name];
  }

  #call(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#connection.call("storage", method, args);
  }
}
