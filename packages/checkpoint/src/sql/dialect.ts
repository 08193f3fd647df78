/** Where SQLite and Postgres differ. Everything else is one text for both. */
import type { NewObject } from "../storage/storage.ts";
import type { SqlRow, SqlSession, SqlValue } from "./sql.ts";

export interface Stored {
  /** In the order of the batch. */
  readonly ids: readonly number[];
  /** Ids that belong to another thread. */
  readonly foreign: readonly number[];
}

export interface Dialect {
  readonly types: ColumnTypes;
  /** SQL expression: the time now, in milliseconds since 1970. */
  readonly clock: string;
  /**
   * SQL expression: milliseconds of a clock that all users of the database share. Changes of the system clock do not
   * affect it. Claims expire by it.
   */
  readonly claimClock: string;
  /** Ends a query; its rows of `dw_threads t` are locked until the end of the transaction. */
  readonly lockThread: string;
  /** Ends a query; its rows of `dw_objects` are locked, also against use, until the end of the transaction. */
  readonly lockObjects: string;
  /**
   * Taken first by every transaction that removes objects: of two threads deleted at once, neither may inherit from
   * the other.
   */
  readonly lockSweep: string | undefined;
  /** Taken first by every change of the schema. */
  readonly lockSchema: string | undefined;
  /** Bytes of our tables on disk; `undefined` where a file tells. */
  readonly sizeQuery: string | undefined;
  /** SQL for "holds text"; a column of SQLite may hold anything. */
  isText(column: string): string;
  /** SQL for "is one of the numbers bound there by `list`". */
  among(placeholder: string): string;
  list(numbers: readonly number[]): SqlValue;
  /** Stores new objects. References of the objects may be negative: see `NewObject`. */
  storeObjects(session: SqlSession, owner: number, objects: readonly NewObject[]): Promise<Stored>;
  /** Rows of `dw_writes` of the given checkpoints, in the order of their first write. */
  writesOf(session: SqlSession, checkpoints: readonly CheckpointKey[]): Promise<SqlRow[]>;
  /** And the writes on them. */
  removeCheckpoints(session: SqlSession, checkpoints: readonly CheckpointKey[]): Promise<void>;
}

export interface ColumnTypes {
  /** A number given out by the database and never again. */
  readonly id: string;
  readonly integer: string;
  readonly bytes: string;
  /** Text or bytes as they were bound; bytes only, where a column has one type. */
  readonly body: string;
  /** Text in the order of its bytes. */
  readonly text: string;
  /** Ends a table that is read by its key only. */
  readonly keyed: string;
}

export interface CheckpointKey {
  readonly space: number;
  readonly id: Uint8Array;
}

export const WRITES_COLUMNS = "space, checkpoint, task, refs, body";
