/** The part of a query that depends on a request: texts are ours, every value is bound. */
import { type ByteLimit, fitting } from "@deepwright/checkpoint/sql";
import type { RunStatus } from "@deepwright/protocol";
import type { SqlRow, SqlSession, SqlValue } from "./database.ts";

export type { ByteLimit };

/** Most rows one listing returns. */
const MOST_ROWS = 1000;

export class Conditions {
  readonly params: SqlValue[] = [];
  readonly #parts: string[] = [];

  /** The placeholder of a value. A text with NUL in it is nowhere stored: it becomes nothing, which equals nothing. */
  bind(value: SqlValue): string {
    this.params.push(typeof value === "string" && value.includes("\0") ? null : value);
    return `$${this.params.length}`;
  }

  /** All must hold. */
  add(condition: string): void {
    this.#parts.push(`(${condition})`);
  }

  get where(): string {
    return this.#parts.length === 0 ? "" : ` WHERE ${this.#parts.join(" AND ")}`;
  }
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Default: pages of 16 MiB, rows of any size. */
  readonly bytes?: ByteLimit;
}

export interface RunPage extends Page {
  readonly status?: RunStatus;
}

/** Rows, as SQL. */
export interface Listing {
  readonly columns: string;
  readonly from: string;
  /** The bytes of the columns of a row that may be large. */
  readonly bytes: string;
  /** Ends with a column that no two rows share. */
  readonly order: string;
}

/** How rows are matched where SQL alone cannot tell. */
export interface Verify {
  matches(row: SqlRow): boolean;
  /** The part of a row that is needed once it matches. Default: all of it. */
  readonly kept?: (row: SqlRow) => SqlRow;
  /** Rows looked at together. */
  readonly together: number;
}

const BYTES: ByteLimit = { page: 16 * 1024 * 1024 };

/** One page of rows. */
export async function pageOf(
  session: SqlSession,
  listing: Listing,
  conditions: Conditions,
  page: Page,
  verify: Verify | undefined,
): Promise<SqlRow[]> {
  const limit = Math.min(count(page.limit), MOST_ROWS);
  const offset = count(page.offset);
  const { bytes = BYTES } = page;
  if (verify === undefined) return (await rowsOf(session, listing, conditions, limit, offset, bytes)).rows;
  const found: SqlRow[] = [];
  const sizes: number[] = [];
  let skipped = 0;
  for await (const chunk of chunksOf(session, listing, conditions, verify)) {
    for (const row of chunk) {
      if (skipped++ < offset) continue;
      if (found.length === limit) return found;
      sizes.push(bytesIn(row));
      if (fitting(sizes, bytes) < sizes.length) return found;
      found.push(row);
    }
    if (found.length === limit) return found;
  }
  return found;
}

/** How many rows match. */
export async function countOf(
  session: SqlSession,
  listing: Listing,
  conditions: Conditions,
  verify: Verify | undefined,
): Promise<number> {
  const { params, where } = conditions;
  if (verify === undefined) {
    const [row] = await session.all(`SELECT COUNT(*) AS found FROM ${listing.from}${where}`, params);
    return Number(row?.found);
  }
  let found = 0;
  for await (const chunk of chunksOf(session, listing, conditions, verify)) found += chunk.length;
  return found;
}

/** The rows that match, in order. */
async function* chunksOf(
  session: SqlSession,
  listing: Listing,
  conditions: Conditions,
  verify: Verify,
): AsyncGenerator<SqlRow[]> {
  for (let from = 0; ; ) {
    const { rows, isEnd } = await rowsOf(session, listing, conditions, verify.together, from, BYTES);
    yield matching(rows, verify);
    if (isEnd) return;
    from += rows.length;
  }
}

/** As many as fit. Their sizes are read first: they stand beside the texts, which are not touched for them. */
async function rowsOf(
  session: SqlSession,
  { columns, from, bytes, order }: Listing,
  { params, where }: Conditions,
  limit: number,
  offset: number,
  most: ByteLimit,
): Promise<{ readonly rows: SqlRow[]; readonly isEnd: boolean }> {
  const read = (what: string, rows: number) =>
    session.all(
      `SELECT ${what} FROM ${from}${where} ORDER BY ${order} LIMIT $${params.length + 1} OFFSET $${params.length + 2}`,
      [...params, rows, offset],
    );
  const sizes = (await read(`${bytes} AS bytes`, limit)).map((row) => Number(row.bytes ?? 0));
  const fit = fitting(sizes, most);
  const rows = fit === 0 ? [] : await read(columns, fit);
  return { rows, isEnd: sizes.length < limit && fit === sizes.length };
}

function bytesIn(row: SqlRow): number {
  return Object.values(row).reduce<number>(
    (sum, column) => sum + (typeof column === "string" ? column.length : 8),
    0,
  );
}

/** How long rows are looked at before others have their turn. */
const TURN_MS = 20;

/** On Postgres this is done where requests are answered, and rows may be large. */
async function matching(
  rows: readonly SqlRow[],
  { matches, kept = (row) => row }: Verify,
): Promise<SqlRow[]> {
  const found: SqlRow[] = [];
  let since = performance.now();
  for (const row of rows) {
    if (matches(row)) found.push(kept(row));
    if (performance.now() - since < TURN_MS) continue;
    await new Promise<void>((go) => setImmediate(go));
    since = performance.now();
  }
  return found;
}

/** `order` of a request as SQL: one of ours, or the first of them; `last` tells rows apart. */
export function orderOf<Name extends string>(
  columns: Readonly<Record<Name, string>>,
  by: Name | null | undefined,
  direction: "asc" | "desc" | null | undefined,
  last: string,
): string {
  const way = direction === "asc" ? "ASC" : "DESC";
  const column = by && Object.hasOwn(columns, by) ? `${columns[by]} ${way}, ` : "";
  return `${column}${last} ${way}`;
}

/** A limit that is no number of rows counts as 0: SQLite takes a negative limit for no limit. */
function count(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
