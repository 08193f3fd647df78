import { SqlStorage } from "../sql/sql-storage.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { openPostgres } from "./open.ts";
import type { PostgresOptions } from "./postgres-sql.ts";
import type { PostgresConnection } from "./shared-pool.ts";

export type { PostgresConnection, PostgresOptions };

/** Makes the tables if they are missing; any number of processes may do so at once. */
export function openPostgresStorage(
  connection: PostgresConnection,
  options: PostgresOptions = {},
): Promise<ThreadStorage> {
  return openPostgres(connection, options, async (sql) => {
    const storage = new SqlStorage(sql);
    await storage.start();
    return storage;
  });
}
