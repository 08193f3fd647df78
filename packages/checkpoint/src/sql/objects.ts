/** Content under its hash, and which threads hold it. */
import type { NewObject, StoredObject } from "../home/home.ts";
import { objectOf } from "./body.ts";
import type { Work } from "./work.ts";

/** Stores what is new and makes the thread a sharer of what others own. Ids in the order of the objects. */
export async function storeObjects(
  { session, dialect }: Work,
  thread: number,
  objects: readonly NewObject[],
): Promise<readonly number[]> {
  const { ids, foreign } = await dialect.storeObjects(session, thread, objects);
  if (foreign.length > 0) {
    await session.run(
      `INSERT INTO dw_shares (thread, object) SELECT CAST($1 AS BIGINT), o.id FROM dw_objects o
        WHERE o.id ${dialect.among("$2")} ON CONFLICT DO NOTHING`,
      [thread, dialect.list(foreign)],
    );
  }
  return ids;
}

/** Whether the thread still owns or shares all of them. */
export async function holdsAll(
  { session, dialect }: Work,
  thread: number,
  ids: ReadonlySet<number>,
): Promise<boolean> {
  if (ids.size === 0) return true;
  const [row] = await session.all(
    `SELECT COUNT(*) AS held FROM dw_objects o WHERE o.id ${dialect.among("$1")} AND (o.owner = $2
      OR EXISTS (SELECT 1 FROM dw_shares s WHERE s.thread = $2 AND s.object = o.id))`,
    [dialect.list([...ids]), thread],
  );
  return row?.held === ids.size;
}

/** Level by level; objects that are gone are left out. */
export async function loadObjects(
  { session, dialect }: Work,
  ids: readonly number[],
  known: readonly number[],
): Promise<readonly StoredObject[]> {
  const seen = new Set(known);
  const loaded: StoredObject[] = [];
  let wanted = [...new Set(ids)].filter((id) => !seen.has(id));
  for (const id of wanted) seen.add(id);
  while (wanted.length > 0) {
    const rows = await session.all(`SELECT id, head, body FROM dw_objects WHERE id ${dialect.among("$1")}`, [
      dialect.list(wanted),
    ]);
    wanted = [];
    for (const row of rows) {
      const object = objectOf(row);
      loaded.push(object);
      for (const ref of object.refs) {
        if (seen.has(ref)) continue;
        seen.add(ref);
        wanted.push(ref);
      }
    }
  }
  return loaded;
}
