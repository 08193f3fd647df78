/** The database as the records use it; where SQLite and Postgres differ, they differ here. */
import { clockOf, type Sql, type SqlRow, type SqlSession, type SqlValue } from "@deepwright/checkpoint/sql";

export type { SqlRow, SqlSession, SqlValue };

export interface Database {
  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /** May run again when the connection broke, perhaps after it counted: work must be safe to repeat. */
  write<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /** SQL for the moment, in milliseconds since 1970. */
  readonly clock: string;
  /** Ends a query whose rows nobody else may change before the transaction ends. */
  readonly lock: string;
  /** SQL for "is one of the texts bound there by `list`". */
  among(placeholder: string): string;
  list(texts: readonly string[]): SqlValue;
  /** Rows of one table, with as few statements as the database likes. */
  insertAll(session: SqlSession, table: string, columns: Columns, rows: readonly SqlValue[][]): Promise<void>;
}

/** Names and types of Postgres, as in the code; never from a request. */
export type Columns = Readonly<Record<string, "TEXT" | "BIGINT">>;

export function databaseOf(sql: Sql): Database {
  const shared = {
    read: <T>(work: (session: SqlSession) => Promise<T>) => sql.read(work),
    write: <T>(work: (session: SqlSession) => Promise<T>) => sql.write(work),
    clock: clockOf(sql),
  };
  return sql.dialect === "sqlite" ? { ...shared, ...SQLITE } : { ...shared, ...POSTGRES };
}

const SQLITE = {
  lock: "",
  among: (placeholder: string) => `IN (SELECT value FROM json_each(${placeholder}))`,
  list: (texts: readonly string[]) => JSON.stringify(texts),
  /** A prepared statement is a function call. */
  async insertAll(session: SqlSession, table: string, columns: Columns, rows: readonly SqlValue[][]) {
    const names = Object.keys(columns);
    const places = names.map((_, index) => `$${index + 1}`);
    for (const row of rows) {
      await session.run(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places.join(", ")})`, row);
    }
  },
};

const POSTGRES = {
  lock: " FOR UPDATE",
  among: (placeholder: string) => `= ANY (CAST(${placeholder} AS TEXT[]))`,
  list: (texts: readonly string[]) => texts,
  /** A statement is a round trip. */
  async insertAll(session: SqlSession, table: string, columns: Columns, rows: readonly SqlValue[][]) {
    if (rows.length === 0) return;
    const names = Object.keys(columns);
    const arrays = Object.values(columns).map((type, index) => `CAST($${index + 1} AS ${type}[])`);
    const values = names.map((_, index) => rows.map((row) => row[index])) as unknown as SqlValue[];
    await session.run(
      `INSERT INTO ${table} (${names.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`,
      values,
    );
  },
};
