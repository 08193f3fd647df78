/** Threads and long-term memory in Postgres. */
export type { PutOptions, StoreOptions, TtlOptions } from "../store/durable-store.ts";
export { PostgresStore, type PostgresStoreOptions } from "../store/postgres-store.ts";
export { PostgresSaver } from "./postgres-saver.ts";
export type { PostgresConnection, PostgresOptions } from "./postgres-storage.ts";
