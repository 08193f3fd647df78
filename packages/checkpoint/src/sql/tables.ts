/** For packages that keep tables of their own in the same database: migrations and clocks in SQL. */
import type { Dialect } from "./dialect.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { type Migration, migrate } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

/** Runs the missing migrations of one package. `part` is the name under which the database counts its version. */
export function prepareTables(sql: Sql, part: string, migrations: readonly Migration[]): Promise<void> {
  return migrate(sql, dialectOf(sql), part, migrations);
}

/** SQL expression: the time now by the clock of the database, in milliseconds since 1970. */
export function clockOf(sql: Sql): string {
  return dialectOf(sql).clock;
}

/**
 * SQL expression: milliseconds of a clock that changes of the system clock do not affect. Only differences mean
 * something; claims of threads expire by it.
 */
export function claimClockOf(sql: Sql): string {
  return dialectOf(sql).claimClock;
}

function dialectOf(sql: Sql): Dialect {
  return sql.dialect === "sqlite" ? sqliteDialect : postgresDialect;
}
