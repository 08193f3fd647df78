/** Threads and long-term memory in an SQLite file. */
export type { PutOptions, StoreOptions, TtlOptions } from "../store/durable-store.ts";
export { SqliteStore, type SqliteStoreOptions } from "../store/sqlite-store.ts";
export { SqliteSaver } from "./sqlite-saver.ts";
export type { SqliteOptions } from "./sqlite-sql.ts";
export { openSqliteStorage } from "./sqlite-storage.ts";
