/** Tables of one's own in the database of the threads, so that one backup has all. */

export {
  listenPostgres,
  openPostgresPool,
  openPostgresSql,
  openSqliteService,
  type SqlService,
} from "../service/open-service.ts";
export { type ByteLimit, fitting } from "./byte-limit.ts";
export type { ColumnTypes } from "./dialect.ts";
export type { Migration } from "./schema.ts";
export type { Sql, SqlColumn, SqlRow, SqlSession, SqlValue } from "./sql.ts";
export { claimClockOf, clockOf, prepareTables } from "./tables.ts";
