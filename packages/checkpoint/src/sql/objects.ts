/** Content under its hash, and which threads hold it. */
import { contentHash } from "../storage/content-hash.ts";
import { damaged } from "../storage/damaged.ts";
import type { NewObject, StoredObject } from "../storage/storage.ts";
import { tooLarge } from "../storage/too-large.ts";
import { objectOf } from "./body.ts";
import { bytesIn, integerIn } from "./columns.ts";
import type { SqlRow } from "./sql.ts";
import type { Work } from "./work.ts";

/** Stores new objects and makes the thread a sharer of existing ones. Ids in the order of the objects. */
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

interface Hashed {
  readonly hash: string;
}

/** Loads level by level; missing `ids` are left out. Every object is checked against its hash. */
export async function loadObjects(
  work: Work,
  ids: readonly number[],
  known: readonly number[],
  mostBytes?: number,
): Promise<readonly StoredObject[]> {
  let bytes = 0;
  const seen = new Set(known);
  const loaded: StoredObject[] = [];
  const hashes = new Map<number, Hashed>();
  let wanted = [...new Set(ids)].filter((id) => !seen.has(id));
  for (const id of wanted) seen.add(id);
  while (wanted.length > 0) {
    if (mostBytes !== undefined) {
      bytes += await bytesOf(work, wanted);
      if (bytes > mostBytes) throw tooLarge(mostBytes);
    }
    const rows = await rowsOf(work, "id, hash, head, body", wanted);
    wanted = [];
    for (const row of rows) {
      const object = objectOf(row);
      loaded.push(object);
      hashes.set(object.id, hashOf(row));
      for (const ref of object.refs) {
        if (seen.has(ref)) continue;
        seen.add(ref);
        wanted.push(ref);
      }
    }
  }
  const elsewhere = new Set(loaded.flatMap(({ refs }) => refs.filter((ref) => !hashes.has(ref))));
  if (elsewhere.size > 0)
    for (const row of await rowsOf(work, "id, hash", [...elsewhere]))
      hashes.set(integerIn(row, "id"), hashOf(row));
  for (const object of loaded) checkContent(object, hashes);
  return loaded;
}

/** Sizes stand beside the bodies, which are not read for them. */
async function bytesOf(work: Work, ids: readonly number[]): Promise<number> {
  const [row] = await rowsOf(work, "SUM(OCTET_LENGTH(body)) AS bytes", ids);
  return Number(row?.bytes ?? 0);
}

async function rowsOf(
  { session, dialect }: Work,
  columns: string,
  ids: readonly number[],
): Promise<SqlRow[]> {
  return session.all(`SELECT ${columns} FROM dw_objects WHERE id ${dialect.among("$1")}`, [
    dialect.list(ids),
  ]);
}

function hashOf(row: SqlRow): Hashed {
  const { buffer, byteOffset, byteLength } = bytesIn(row, "hash");
  return { hash: Buffer.from(buffer, byteOffset, byteLength).toString("hex") };
}

/** The hash covers the content of all references: an object that leads back to itself cannot match. */
function checkContent({ id, kind, refs, body }: StoredObject, hashes: ReadonlyMap<number, Hashed>): void {
  const hashed = refs.map((ref) => {
    const found = hashes.get(ref);
    if (found === undefined) throw damaged(`object ${id} refers to object ${ref}, which is missing`);
    return found;
  });
  if (contentHash(kind, hashed, body) !== hashes.get(id)?.hash)
    throw damaged(`object ${id} does not match its hash`);
}
