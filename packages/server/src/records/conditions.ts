/** The part of a query that depends on a request: texts are ours, every value is bound. */
import type { SqlRow, SqlSession, SqlValue } from "./database.ts";

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
}

/** What is wanted of rows where SQL alone cannot tell which match. */
export interface Verify {
  matches(row: SqlRow): boolean;
  /** Rows looked at together. */
  readonly together: number;
}

/** One page of the rows of `select` in `order`, which ends with a column that no two rows share. */
export async function pageOf(
  session: SqlSession,
  select: string,
  conditions: Conditions,
  order: string,
  page: Page,
  verify: Verify | undefined,
): Promise<SqlRow[]> {
  const limit = Math.min(count(page.limit), MOST_ROWS);
  const offset = count(page.offset);
  const rows = (most: number, from: number) => {
    const { params, where } = conditions;
    const end = ` ORDER BY ${order} LIMIT $${params.length + 1} OFFSET $${params.length + 2}`;
    return session.all(`${select}${where}${end}`, [...params, most, from]);
  };
  if (verify === undefined) return rows(limit, offset);
  const found: SqlRow[] = [];
  let skipped = 0;
  for (let from = 0; found.length < limit; from += verify.together) {
    const chunk = await rows(verify.together, from);
    for (const row of await matching(chunk, verify)) {
      if (skipped < offset) skipped += 1;
      else if (found.length < limit) found.push(row);
    }
    if (chunk.length < verify.together) break;
  }
  return found;
}

/** How many rows match; `select` is of the columns that `verify` needs and ends with the table. */
export async function countOf(
  session: SqlSession,
  select: string,
  conditions: Conditions,
  order: string,
  verify: Verify | undefined,
): Promise<number> {
  const { params, where } = conditions;
  if (verify === undefined) {
    const [row] = await session.all(`SELECT COUNT(*) AS found FROM (${select}${where}) AS matching`, params);
    return row?.found as number;
  }
  let found = 0;
  for (let from = 0; ; from += verify.together) {
    const end = ` ORDER BY ${order} LIMIT $${params.length + 1} OFFSET $${params.length + 2}`;
    const chunk = await session.all(`${select}${where}${end}`, [...params, verify.together, from]);
    found += (await matching(chunk, verify)).length;
    if (chunk.length < verify.together) return found;
  }
}

/** How long rows are looked at before others have their turn. */
const TURN_MS = 20;

/** On Postgres this is done where requests are answered, and rows may be large. */
async function matching(rows: readonly SqlRow[], { matches }: Verify): Promise<SqlRow[]> {
  const found: SqlRow[] = [];
  let since = performance.now();
  for (const row of rows) {
    if (matches(row)) found.push(row);
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

/** What is not a number of rows is none: SQLite takes a negative limit for no limit. */
function count(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
