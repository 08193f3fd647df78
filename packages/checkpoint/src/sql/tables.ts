/** Facts of the database that tables of another package need. */
import type { Dialect } from "./dialect.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { type Migration, migrate } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

/** Brings the tables of a part, known by that name in this database, to their newest version. */
export function prepareTables(sql: Sql, part: string, migrations: readonly Migration[]): Promise<void> {
  return migrate(sql, dialectOf(sql), part, migrations);
}

/** SQL for the moment by the clock of the database, in milliseconds since 1970. */
export function clockOf(sql: Sql): string {
  return dialectOf(sql).clock;
}

/** SQL for milliseconds of the clock that claims live by; they mean nothing but how far apart two of them are. */
export function claimClockOf(sql: Sql): string {
  return dialectOf(sql).claimClock;
}

function dialectOf(sql: Sql): Dialect {
  return sql.dialect === "sqlite" ? sqliteDialect : postgresDialect;
}
