import type { Home } from "../home/home.ts";
import { SqlHome } from "../sql/sql-home.ts";
import { openPostgres } from "./open.ts";
import type { PostgresOptions } from "./postgres-sql.ts";
import type { PostgresPlace } from "./shared-pool.ts";

export type { PostgresOptions, PostgresPlace };

/** Makes the tables if they are missing; any number of processes may do so at once. */
export function openPostgresHome(place: PostgresPlace, options: PostgresOptions = {}): Promise<Home> {
  return openPostgres(place, options, async (sql) => {
    const home = new SqlHome(sql);
    await home.start();
    return home;
  });
}
