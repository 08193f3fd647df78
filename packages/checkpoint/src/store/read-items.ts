/** Getting and searching items: in the order of their namespaces, then of their first put. */
import type { SqlRow, SqlValue } from "../sql/sql.ts";
import type { Work } from "../sql/work.ts";
import { matches } from "./filter.ts";
import { endOfPrefix } from "./namespace.ts";
import type { GetItem, SearchItems, StoredItem } from "./store-service.ts";
import { similarity, vectorOfBytes } from "./vectors.ts";

export interface ItemRow extends StoredItem {
  readonly id: number;
  readonly ttl: number | null;
}

interface Page {
  readonly prefix: string;
  readonly now: number;
  readonly after?: Place;
  readonly limit: number;
  readonly offset?: number;
}

interface Place {
  readonly id: number;
  readonly namespace: string;
}

interface Scored extends Place {
  readonly score: number | undefined;
}

const PAGE = 200;
const PLACE = "i.id, i.namespace";
const ITEM = `${PLACE}, i.item_key, i.created_at, i.updated_at, i.ttl, v.body`;
const VALUES = "dw_items i JOIN dw_item_values v ON v.item = i.id";

export async function getItem(
  { session }: Work,
  { namespace, key }: GetItem,
  now: number,
): Promise<ItemRow | null> {
  const [row] = await session.all(
    `SELECT ${ITEM} FROM ${VALUES} WHERE i.namespace = $2 AND i.item_key = $3
       AND (i.expires_at IS NULL OR i.expires_at > $1)`,
    [now, namespace, key],
  );
  return row ? itemOf(row) : null;
}

export async function searchItems(work: Work, search: SearchItems, now: number): Promise<readonly ItemRow[]> {
  if (search.vector) return nearest(work, search, search.vector, now);
  const { prefix, conditions, limit, offset } = search;
  if (conditions.length === 0) {
    return (await readPage(work, ITEM, VALUES, { prefix, now, limit, offset })).map(itemOf);
  }
  const found: ItemRow[] = [];
  for await (const item of matching(work, search, now)) {
    if (found.length >= offset + limit) break;
    found.push(item);
  }
  return found.slice(offset, offset + limit);
}

/** Values are decoded page by page until enough match. */
async function* matching(
  work: Work,
  { prefix, conditions }: SearchItems,
  now: number,
): AsyncGenerator<ItemRow> {
  for await (const rows of pages(work, ITEM, VALUES, prefix, now)) {
    for (const row of rows) {
      if (matches(JSON.parse(row.body as string), conditions)) yield itemOf(row);
    }
  }
}

/** Every candidate is compared; only the values of those returned are read, unless a filter needs them. */
async function nearest(
  work: Work,
  search: SearchItems,
  wanted: Float32Array,
  now: number,
): Promise<readonly ItemRow[]> {
  const filtered = search.conditions.length > 0;
  const scored: Scored[] = [];
  for await (const rows of pages(
    work,
    filtered ? ITEM : PLACE,
    filtered ? VALUES : "dw_items i",
    search.prefix,
    now,
  )) {
    const candidates = rows.filter(
      (row) => !filtered || matches(JSON.parse(row.body as string), search.conditions),
    );
    const scores = await scoresOf(
      work,
      candidates.map((row) => row.id as number),
      wanted,
    );
    for (const row of candidates) {
      const id = row.id as number;
      scored.push({ id, namespace: row.namespace as string, score: scores.get(id) });
    }
  }
  scored.sort((a, b) => (b.score ?? -2) - (a.score ?? -2));
  return loadScored(work, scored.slice(search.offset, search.offset + search.limit));
}

/** The best score of each item's vectors. Vectors of another length are of another model and do not count. */
async function scoresOf(
  { session, dialect }: Work,
  ids: readonly number[],
  wanted: Float32Array,
): Promise<Map<number, number>> {
  const best = new Map<number, number>();
  if (ids.length === 0) return best;
  const rows = await session.all(
    `SELECT item, vector FROM dw_item_vectors WHERE item ${dialect.among("$1")}`,
    [dialect.list(ids)],
  );
  for (const row of rows) {
    const vector = vectorOfBytes(row.vector as Uint8Array);
    if (vector.length !== wanted.length) continue;
    const id = row.item as number;
    best.set(id, Math.max(best.get(id) ?? -1, similarity(wanted, vector)));
  }
  return best;
}

async function loadScored({ session, dialect }: Work, scored: readonly Scored[]): Promise<ItemRow[]> {
  if (scored.length === 0) return [];
  const rows = await session.all(`SELECT ${ITEM} FROM ${VALUES} WHERE i.id ${dialect.among("$1")}`, [
    dialect.list(scored.map(({ id }) => id)),
  ]);
  const items = new Map(rows.map((row) => [row.id as number, itemOf(row)]));
  return scored.map(({ id, score }) => ({ ...(items.get(id) as ItemRow), score }));
}

async function* pages(
  work: Work,
  columns: string,
  tables: string,
  prefix: string,
  now: number,
): AsyncGenerator<readonly SqlRow[]> {
  let after: Place | undefined;
  for (;;) {
    const rows = await readPage(work, columns, tables, { prefix, now, after, limit: PAGE });
    yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = { id: last.id as number, namespace: last.namespace as string };
  }
}

/** `columns` and `tables` are texts of this file. */
async function readPage({ session }: Work, columns: string, tables: string, page: Page): Promise<SqlRow[]> {
  const params: SqlValue[] = [page.now];
  const bind = (value: SqlValue) => `$${params.push(value)}`;
  const conditions = ["(i.expires_at IS NULL OR i.expires_at > $1)"];
  if (page.prefix !== "") {
    conditions.push(`i.namespace >= ${bind(page.prefix)}`, `i.namespace < ${bind(endOfPrefix(page.prefix))}`);
  }
  if (page.after)
    conditions.push(`(i.namespace, i.id) > (${bind(page.after.namespace)}, ${bind(page.after.id)})`);
  return session.all(
    `SELECT ${columns} FROM ${tables} WHERE ${conditions.join(" AND ")}
       ORDER BY i.namespace, i.id LIMIT ${bind(page.limit)} OFFSET ${bind(page.offset ?? 0)}`,
    params,
  );
}

function itemOf(row: SqlRow): ItemRow {
  return {
    id: row.id as number,
    namespace: row.namespace as string,
    key: row.item_key as string,
    body: row.body as string,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    ttl: row.ttl as number | null,
  };
}
