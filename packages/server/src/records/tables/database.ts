/** The database as the records use it; where SQLite and Postgres differ, they differ here. */
import {
  claimClockOf,
  clockOf,
  type Sql,
  type SqlColumn,
  type SqlRow,
  type SqlSession,
  type SqlValue,
} from "@deepwright/checkpoint/sql";

export type { SqlRow, SqlSession, SqlValue };

export interface Database {
  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /** May run again when the connection broke, perhaps after it counted: work must be safe to repeat. */
  write<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /** SQL for the moment, in milliseconds since 1970. */
  readonly clock: string;
  /** SQL for the milliseconds of the clock for claims. Changes of the system clock do not affect it. */
  readonly claimClock: string;
  /** Ends a query whose rows are locked until the end of the transaction. */
  readonly lock: string;
  /** SQL for "is one of the texts bound there by `list`". */
  among(placeholder: string): string;
  list(texts: readonly string[]): SqlValue;
  /** SQL for bound rows as a table with these columns, with its parameters. */
  given(columns: Columns, rows: Given): { sql: string; params: SqlValue[] };
  /** Rows of one table, with as few statements as the database likes. */
  insertAll(session: SqlSession, table: string, columns: Columns, rows: Given): Promise<void>;
}

/** Names and types of Postgres, as in the code; never from a request. */
export type Columns = Readonly<Record<string, "TEXT" | "BIGINT">>;

export function databaseOf(sql: Sql): Database {
  const shared = {
    read: <T>(work: (session: SqlSession) => Promise<T>) => sql.read(work),
    write: <T>(work: (session: SqlSession) => Promise<T>) => sql.write(work),
    clock: clockOf(sql),
    claimClock: claimClockOf(sql),
  };
  return sql.dialect === "sqlite" ? { ...shared, ...SQLITE } : { ...shared, ...POSTGRES };
}

/**
 * SQL for "the time in `column` has come". One further ahead than `longestMs`, the longest that is ever set, was set
 * before the clock went back: it has come as well.
 */
export function isDue(
  { clock }: Pick<Database, "clock">,
  column: string,
  longestMs: number | string,
): string {
  return `(${column} <= ${clock} OR ${column} > ${clock} + ${longestMs})`;
}

/**
 * Takes up to `limit` due rows for `leaseMs`. Each row counts the look; if the caller dies, others take its rows. No
 * pause between two looks is longer than 15 minutes.
 */
export async function takeDue(
  { clock, lock }: Database,
  session: SqlSession,
  { table, key }: { readonly table: string; readonly key: string },
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<SqlRow[]> {
  return session.all(
    `UPDATE ${table} SET looks = looks + 1, due = ${clock} + $1 WHERE ${key} IN (
      SELECT ${key} FROM ${table} WHERE ${isDue({ clock }, "due", 900_000)} ORDER BY due LIMIT $2${lock}) RETURNING *`,
    [Math.ceil(leaseMs), Math.max(0, limit)],
  );
}

type Given = readonly (readonly SqlColumn[])[];

const SQLITE = {
  lock: "",
  given(columns: Columns, rows: Given) {
    const fields = Object.keys(columns).map((name, index) => `json_extract(value, '$[${index}]') AS ${name}`);
    return {
      sql: `(SELECT ${fields.join(", ")} FROM json_each($1)) AS given`,
      params: [JSON.stringify(rows)],
    };
  },
  among: (placeholder: string) => `IN (SELECT value FROM json_each(${placeholder}))`,
  list: (texts: readonly string[]) => JSON.stringify(texts),
  /** A prepared statement is a function call. */
  async insertAll(session: SqlSession, table: string, columns: Columns, rows: Given) {
    const names = Object.keys(columns);
    const values = names.map((_, index) => `$${index + 1}`);
    for (const row of rows) {
      await session.run(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${values.join(", ")})`, row);
    }
  },
};

const POSTGRES = {
  lock: " FOR UPDATE",
  among: (placeholder: string) => `= ANY (CAST(${placeholder} AS TEXT[]))`,
  list: (texts: readonly string[]) => texts,
  given: postgresGiven,
  /** A statement is a round trip. */
  async insertAll(session: SqlSession, table: string, columns: Columns, rows: Given) {
    if (rows.length === 0) return;
    const { sql, params } = postgresGiven(columns, rows);
    await session.run(
      `INSERT INTO ${table} (${Object.keys(columns).join(", ")}) SELECT * FROM ${sql}`,
      params,
    );
  },
};

function postgresGiven(columns: Columns, rows: Given): { sql: string; params: SqlValue[] } {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `CAST($${index + 1} AS ${type}[])`);
  return {
    sql: `unnest(${arrays.join(", ")}) AS given (${names.join(", ")})`,
    params: names.map((_, index) => rows.map((row) => row[index] ?? null)),
  };
}
