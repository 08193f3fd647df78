/** Getting and searching items: in the order of their namespaces, then of their first put. */

import { type ByteLimit, fitting } from "../sql/byte-limit.ts";
import { bytesIn, integerIn, momentIn, optional, textIn } from "../sql/columns.ts";
import type { SqlRow, SqlValue } from "../sql/sql.ts";
import type { Work } from "../sql/work.ts";
import { damaged, readStored } from "../storage/damaged.ts";
import { matches } from "./filter.ts";
import { checkedNamespace, endOfPrefix } from "./namespace.ts";
import type { GetItem, SearchItems, StoredItem } from "./store-service.ts";
import { similarity, vectorOfBytes } from "./vectors.ts";

export interface ItemRow extends StoredItem {
  readonly id: number;
  readonly ttl: number | null;
}

interface Page {
  readonly prefix: string;
  readonly now: number;
  readonly after?: ItemPosition;
  readonly limit: number;
  readonly offset?: number;
}

interface ItemPosition {
  readonly id: number;
  readonly namespace: string;
}

interface Scored extends ItemPosition {
  readonly score: number | undefined;
}

const PAGE = 200;
/** Values that are read together to be looked at. */
const TOGETHER: ByteLimit = { page: 16 * 1024 * 1024 };
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
  const { prefix, conditions, limit, offset, bytes } = search;
  if (conditions.length === 0) {
    const { rows, isCut } = await fittingPage(work, { prefix, now, limit, offset }, bytes);
    return ended(rows.map(itemOf), isCut);
  }
  const found: ItemRow[] = [];
  const sizes: number[] = [];
  let skipped = 0;
  for await (const item of matching(work, search, now)) {
    if (found.length >= limit) break;
    if (skipped++ < offset) continue;
    sizes.push(item.body.length);
    if (bytes && fitting(sizes, bytes) < sizes.length) return ended(found, true);
    found.push(item);
  }
  return found;
}

/** Marks the last item where others follow that did not fit. */
function ended(items: readonly ItemRow[], isCut: boolean): readonly ItemRow[] {
  const last = items.at(-1);
  return isCut && last ? [...items.slice(0, -1), { ...last, more: true }] : items;
}

/** Sizes first: they stand beside the values, which are not read for them. */
async function fittingPage(
  work: Work,
  page: Page,
  bytes: ByteLimit | undefined,
): Promise<{ readonly rows: readonly SqlRow[]; readonly isCut: boolean }> {
  if (!bytes) return { rows: await readPage(work, ITEM, VALUES, page), isCut: false };
  const sized = await readPage(work, "OCTET_LENGTH(v.body) AS bytes", VALUES, page);
  const limit = fitting(sized.map(sizeIn), bytes);
  const rows = limit === 0 ? [] : await readPage(work, ITEM, VALUES, { ...page, limit });
  return { rows, isCut: limit < sized.length };
}

const sizeIn = (row: SqlRow): number => Number(row.bytes ?? 0);

/** Values are decoded page by page until enough match. */
async function* matching(
  work: Work,
  { prefix, conditions }: SearchItems,
  now: number,
): AsyncGenerator<ItemRow> {
  for await (const rows of pages(work, "items", prefix, now)) {
    for (const row of rows) {
      if (matches(valueIn(row), conditions)) yield itemOf(row);
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
  for await (const rows of pages(work, filtered ? "items" : "places", search.prefix, now)) {
    const candidates = rows.filter((row) => !filtered || matches(valueIn(row), search.conditions));
    const scores = await scoresOf(
      work,
      candidates.map((row) => integerIn(row, "id")),
      wanted,
    );
    for (const row of candidates) {
      const id = integerIn(row, "id");
      scored.push({ id, namespace: namespaceIn(row), score: scores.get(id) });
    }
  }
  scored.sort((a, b) => (b.score ?? -2) - (a.score ?? -2));
  return nearestPage(work, scored.slice(search.offset, search.offset + search.limit), search.bytes);
}

async function nearestPage(
  work: Work,
  scored: readonly Scored[],
  bytes: ByteLimit | undefined,
): Promise<readonly ItemRow[]> {
  if (!bytes || scored.length === 0) return loadScored(work, scored);
  const { session, dialect } = work;
  const rows = await session.all(
    `SELECT item, OCTET_LENGTH(body) AS bytes FROM dw_item_values WHERE item ${dialect.among("$1")}`,
    [dialect.list(scored.map(({ id }) => id))],
  );
  const sizes = new Map(rows.map((row) => [integerIn(row, "item"), sizeIn(row)]));
  const count = fitting(
    scored.map(({ id }) => sizes.get(id) ?? 0),
    bytes,
  );
  return ended(await loadScored(work, scored.slice(0, count)), count < scored.length);
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
    const vector = vectorOfBytes(bytesIn(row, "vector"));
    if (vector.length !== wanted.length) continue;
    const id = integerIn(row, "item");
    best.set(id, Math.max(best.get(id) ?? -1, similarity(wanted, vector)));
  }
  return best;
}

async function loadScored({ session, dialect }: Work, scored: readonly Scored[]): Promise<ItemRow[]> {
  if (scored.length === 0) return [];
  const rows = await session.all(`SELECT ${ITEM} FROM ${VALUES} WHERE i.id ${dialect.among("$1")}`, [
    dialect.list(scored.map(({ id }) => id)),
  ]);
  const items = new Map(rows.map((row) => [integerIn(row, "id"), itemOf(row)]));
  return scored.map(({ id, score }) => {
    const item = items.get(id);
    if (!item) throw damaged(`the item ${id} of the store has no value`);
    return { ...item, score };
  });
}

async function* pages(
  work: Work,
  what: "items" | "places",
  prefix: string,
  now: number,
): AsyncGenerator<readonly SqlRow[]> {
  let after: ItemPosition | undefined;
  for (;;) {
    const page = { prefix, now, after, limit: PAGE };
    const { rows, isCut } =
      what === "items"
        ? await fittingPage(work, page, TOGETHER)
        : { rows: await readPage(work, PLACE, "dw_items i", page), isCut: false };
    yield rows;
    const last = rows.at(-1);
    if (!last || (rows.length < PAGE && !isCut)) return;
    const place = { id: integerIn(last, "id"), namespace: namespaceIn(last) };
    if (after?.id === place.id) throw damaged(`the items of the store after ${place.id} have no order`);
    after = place;
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
    id: integerIn(row, "id"),
    namespace: namespaceIn(row),
    key: textIn(row, "item_key"),
    body: textIn(row, "body"),
    createdAt: momentIn(row, "created_at"),
    updatedAt: momentIn(row, "updated_at"),
    ttl: optional(row, "ttl", integerIn) ?? null,
  };
}

function namespaceIn(row: SqlRow): string {
  return checkedNamespace(textIn(row, "namespace"));
}

function valueIn(row: SqlRow): unknown {
  return readStored(`the value of the item "${row.item_key}"`, () => JSON.parse(textIn(row, "body")));
}
