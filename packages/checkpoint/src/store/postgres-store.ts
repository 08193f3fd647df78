import { openPostgres } from "../postgres/open.ts";
import type { PostgresOptions, PostgresSql } from "../postgres/postgres-sql.ts";
import type { PostgresConnection } from "../postgres/shared-pool.ts";
import { DurableStore, type StoreOptions } from "./durable-store.ts";
import { SqlStore } from "./sql-store.ts";

export interface PostgresStoreOptions extends StoreOptions, PostgresOptions {}

/** A store in Postgres. Shares the connections of everything of ours on the same URL in this process. */
export class PostgresStore extends DurableStore {
  readonly #sql: PostgresSql;

  private constructor(sql: PostgresSql, service: SqlStore, options: StoreOptions) {
    super(service, options);
    this.#sql = sql;
  }

  /** Makes the tables if they are missing. A pool that is handed in stays the caller's to close. */
  static async open(
    connection: PostgresConnection,
    options: PostgresStoreOptions = {},
  ): Promise<PostgresStore> {
    const { index, ttl, ...ofDatabase } = options;
    return openPostgres(connection, ofDatabase, async (sql) => {
      const service = new SqlStore(sql);
      await service.prepare();
      return new PostgresStore(sql, service, { index, ttl });
    });
  }

  override async close(): Promise<void> {
    this.stopSweeping();
    await this.#sql.close();
  }
}
