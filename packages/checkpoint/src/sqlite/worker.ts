/**
 * The thread a database lives in: a file that is locked, or a disk that is slow, stops this thread only.
 *
 * It has one database at a time and answers one call after another.
 */
import { parentPort } from "node:worker_threads";
import type { Sql } from "../sql/sql.ts";
import { SqlStorage } from "../sql/sql-storage.ts";
import { columnsOf } from "./columns.ts";
import { IN_MEMORY } from "./database-file.ts";
import { closesFiles } from "./driver.ts";
import { failureOf, type Reply, type Request } from "./messages.ts";
import { type SqliteOptions, SqliteSql } from "./sqlite-sql.ts";

type Method = (...args: readonly unknown[]) => unknown;
type Service = Record<string, Method>;

/** Services of a database, made when first asked for. */
const SERVICES: Record<string, (sql: Sql) => Promise<object>> = {
  async storage(sql) {
    const storage = new SqlStorage(sql);
    await storage.start();
    const loadColumns = async (ids: readonly number[], known?: readonly number[], mostBytes?: number) =>
      columnsOf(await storage.loadObjects(ids, known, mostBytes));
    return Object.assign(storage, { loadColumns });
  },
  async store(sql) {
    const { SqlStore } = await import("../store/sql-store.ts");
    return new SqlStore(sql);
  },
};

const running = new Map<string, Promise<object>>();
let database: SqliteSql | undefined;

const connection = {
  async open(path: string, options: SqliteOptions): Promise<void> {
    database = await SqliteSql.open(path, options);
  },
  /** Whether nothing of the database is left in this thread. */
  async close(): Promise<boolean> {
    const closing = database;
    database = undefined;
    running.clear();
    await closing?.close();
    return closing === undefined || closing.path === IN_MEMORY || closesFiles();
  },
};

async function serviceOf(name: string): Promise<object> {
  if (name === "connection") return connection;
  const make = name.startsWith("file:") ? serviceOfModule(name) : SERVICES[name];
  if (database === undefined || make === undefined) throw new Error(`There is no service "${name}".`);
  const started = running.get(name) ?? make(database);
  running.set(name, started);
  started.catch(() => running.delete(name));
  return started;
}

/** Services of another package: see `openSqliteService`. */
function serviceOfModule(url: string): (sql: Sql) => Promise<object> {
  return async (sql) => ((await import(url)) as { default(sql: Sql): object | Promise<object> }).default(sql);
}

async function answer({ id, service, method, args }: Request): Promise<Reply> {
  try {
    const target = (await serviceOf(service)) as Service;
    return { id, value: await target[method]?.(...args) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

let last = Promise.resolve();

parentPort?.on("message", (request: Request) => {
  last = last.then(async () => parentPort?.postMessage(await answer(request)));
});
