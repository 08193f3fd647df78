/** Columns with checked types. SQLite keeps a value of any type in any column, so an edited row may hold anything. */
import { damaged } from "../storage/damaged.ts";
import type { SqlRow } from "./sql.ts";

/** The last moment a Date can tell, in milliseconds since 1970. */
export const LAST_MOMENT = 8.64e15;

export function integerIn(row: SqlRow, column: string): number {
  const value = row[column];
  if (Number.isSafeInteger(value)) return value as number;
  throw unfit(column, "a whole number");
}

export function countIn(row: SqlRow, column: string): number {
  const value = integerIn(row, column);
  if (value >= 0) return value;
  throw unfit(column, "a count");
}

/** Milliseconds since 1970. */
export function momentIn(row: SqlRow, column: string): number {
  const value = countIn(row, column);
  if (value <= LAST_MOMENT) return value;
  throw unfit(column, "a time");
}

export function textIn(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw unfit(column, "text");
}

export function bytesIn(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  throw unfit(column, "bytes");
}

/** `undefined` for NULL. */
export function optional<T>(
  row: SqlRow,
  column: string,
  read: (row: SqlRow, column: string) => T,
): T | undefined {
  return row[column] === null ? undefined : read(row, column);
}

function unfit(column: string, expected: string): Error {
  return damaged(`the column '${column}' does not hold ${expected}`);
}
