/** Work of other packages on the database of the threads, done where that database lives. */

import type { PostgresOptions } from "../postgres/postgres-sql.ts";
import type { Sql } from "../sql/sql.ts";
import type { SqliteOptions } from "../sqlite/sqlite-sql.ts";

export { listenPostgres } from "../postgres/listen.ts";
export { openPostgresPool } from "../postgres/shared-pool.ts";

/** The caller closes it. */
export interface SqlService {
  /** Arguments and answers are data: no functions, no classes. */
  call(method: string, args: readonly unknown[]): Promise<unknown>;
  /** Safe twice. */
  close(): Promise<void>;
}

/**
 * A service in the thread of an SQLite file, on the connection that savers and stores of this process have too.
 *
 * The default export of `module` makes it of the file's `Sql`; it is loaded in that thread, so it must be JavaScript.
 */
export async function openSqliteService(
  path: string,
  module: URL,
  options: SqliteOptions = {},
): Promise<SqlService> {
  const { openConnection } = await import("../sqlite/connection.ts");
  const connection = await openConnection(path, options);
  return {
    call: (method, args) => connection.call(module.href, method, args),
    close: () => connection.close(),
  };
}

/** Postgres over the connections that savers and stores of this process have on the same URL. */
export async function openPostgresSql(url: string, options: PostgresOptions = {}): Promise<Sql> {
  const { openPostgres } = await import("../postgres/open.ts");
  return openPostgres(url, options, async (sql) => sql);
}
