/** A transaction under way and the words of its database. */
import type { Dialect } from "./dialect.ts";
import type { SqlSession } from "./sql.ts";

export interface Work {
  readonly session: SqlSession;
  readonly dialect: Dialect;
}
