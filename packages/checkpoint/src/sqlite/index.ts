/** Threads and long-term memory in an SQLite file. */
export type { PutOptions, StoreOptions, TtlOptions } from "../store/durable-store.ts";
export { SqliteStore, type SqliteStoreOptions } from "../store/sqlite-store.ts";
export { openSqliteHome } from "./sqlite-home.ts";
export { SqliteSaver } from "./sqlite-saver.ts";
export type { SqliteOptions } from "./sqlite-sql.ts";
