/** The part of a database that SQL storage and stores use: SQLite in its worker, Postgres over a pool. */

export type SqlColumn = string | number | bigint | Uint8Array | null;
/** Postgres takes arrays, for `unnest` and `ANY`; SQLite does not. */
export type SqlValue = SqlColumn | readonly SqlColumn[];
export type SqlRow = Record<string, SqlColumn>;

/** Placeholders are `$1`, `$2` …; every value is bound, none is ever part of the text. */
export interface SqlSession {
  all(sql: string, params?: readonly SqlValue[]): Promise<SqlRow[]> | SqlRow[];
  /** An insert, update or delete; returns how many rows it touched. Counted in `bytesWritten`. */
  run(sql: string, params?: readonly SqlValue[]): Promise<number> | number;
  /** An insert of one row; returns its id. Absent in Postgres, where ids are reserved first. */
  insert?(sql: string, params: readonly SqlValue[]): number;
}

export interface TransactionOptions {
  /** One statement may take minutes, as in a migration. Default: seconds, where the database may be far away. */
  readonly isSlow?: boolean;
}

export interface Sql {
  readonly dialect: "sqlite" | "postgres";
  /** One transaction; rolled back when `work` throws. Writers of one SQLite file take turns. */
  write<T>(work: (session: SqlSession) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One consistent view. */
  read<T>(work: (session: SqlSession) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Bytes bound in inserts and updates so far. */
  readonly bytesWritten: number;
  /** Gives the space of deleted rows back to the file system; absent where the database does so itself. */
  reclaim?(): Promise<void>;
  /** Leaves nothing of deleted rows in the files; absent where the database has its own tools. */
  erase?(): Promise<void>;
  /** Bytes on disk; absent where a query tells. */
  size?(): Promise<number>;
  /** A consistent copy in a new file; absent where the database has its own tools. */
  backup?(path: string): Promise<void>;
  close(): Promise<void>;
}
