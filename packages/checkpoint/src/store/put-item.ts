import type { Work } from "../sql/work.ts";
import type { PutItem } from "./store-service.ts";
import { bytesOfVector } from "./vectors.ts";

/** Stores, replaces or deletes. An item put in the place of an expired one is a new one. */
export async function putItem(work: Work, put: PutItem, now: number): Promise<void> {
  if (put.body === null) return deleteItem(work, put);
  const { session } = work;
  const expiresAt = put.ttlMs === null ? null : now + put.ttlMs;
  const [row] = await session.all(
    `INSERT INTO dw_items (namespace, item_key, created_at, updated_at, ttl, expires_at)
       VALUES ($1, $2, $3, $3, $4, $5)
     ON CONFLICT (namespace, item_key) DO UPDATE SET updated_at = excluded.updated_at, ttl = excluded.ttl,
       expires_at = excluded.expires_at, created_at =
         CASE WHEN dw_items.expires_at <= excluded.updated_at THEN excluded.created_at
              ELSE dw_items.created_at END
     RETURNING id`,
    [put.namespace, put.key, now, put.ttlMs, expiresAt],
  );
  const id = row?.id as number;
  await session.run(
    `INSERT INTO dw_item_values (item, body) VALUES ($1, $2)
     ON CONFLICT (item) DO UPDATE SET body = excluded.body`,
    [id, put.body],
  );
  await session.run("DELETE FROM dw_item_vectors WHERE item = $1", [id]);
  for (const { field, vector } of put.vectors) {
    await session.run("INSERT INTO dw_item_vectors (item, field, vector) VALUES ($1, $2, $3)", [
      id,
      field,
      bytesOfVector(vector),
    ]);
  }
}

async function deleteItem({ session }: Work, { namespace, key }: PutItem): Promise<void> {
  const [row] = await session.all(
    "DELETE FROM dw_items WHERE namespace = $1 AND item_key = $2 RETURNING id",
    [namespace, key],
  );
  if (!row) return;
  await session.run("DELETE FROM dw_item_values WHERE item = $1", [row.id as number]);
  await session.run("DELETE FROM dw_item_vectors WHERE item = $1", [row.id as number]);
}

/**
 * Puts only if what is stored is `expected`; null stands for nothing. Of several that expect the same, one
 * succeeds: updating the row locks it, and where there is none yet, only one can insert it.
 */
export async function putItemIf(
  work: Work,
  put: PutItem,
  expected: string | null,
  now: number,
): Promise<boolean> {
  const { session } = work;
  const place = [put.namespace, put.key];
  const [row] = await session.all(
    `UPDATE dw_items SET updated_at = updated_at WHERE namespace = $1 AND item_key = $2
       RETURNING id, expires_at`,
    place,
  );
  if (row === undefined) {
    if (expected !== null) return false;
    if (put.body === null) return true;
    const inserted = await session.all(
      `INSERT INTO dw_items (namespace, item_key, created_at, updated_at) VALUES ($1, $2, $3, $3)
         ON CONFLICT (namespace, item_key) DO NOTHING RETURNING id`,
      [...place, now],
    );
    if (inserted.length === 0) return false;
  } else {
    const [value] = await session.all("SELECT body FROM dw_item_values WHERE item = $1", [row.id as number]);
    const expired = row.expires_at !== null && (row.expires_at as number) <= now;
    if ((expired ? null : (value?.body as string)) !== expected) return false;
  }
  await putItem(work, put, now);
  return true;
}
