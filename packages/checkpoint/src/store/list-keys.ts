import { momentIn, textIn } from "../sql/columns.ts";
import type { SqlSession, SqlValue } from "../sql/sql.ts";
import type { ListKeys, StoredKey } from "./store-service.ts";

/** From the items alone: no value is read. */
export async function listKeys(
  session: SqlSession,
  { namespace, prefix, after, limit }: ListKeys,
  now: number,
): Promise<readonly StoredKey[]> {
  const params: SqlValue[] = [now, namespace, prefix, after, limit];
  const end = endOfKeys(prefix);
  if (end !== undefined) params.push(end);
  const rows = await session.all(
    `SELECT item_key, created_at, updated_at FROM dw_items
       WHERE (expires_at IS NULL OR expires_at > $1) AND namespace = $2 AND item_key >= $3 AND item_key > $4
         ${end === undefined ? "" : "AND item_key < $6"} ORDER BY item_key LIMIT $5`,
    params,
  );
  return rows.map((row) => ({
    key: textIn(row, "item_key"),
    createdAt: momentIn(row, "created_at"),
    updatedAt: momentIn(row, "updated_at"),
  }));
}

/** The first text after everything that begins with `prefix`; undefined where there is none. */
function endOfKeys(prefix: string): string | undefined {
  const points = [...prefix];
  while (points.length > 0) {
    const next = ((points.pop() as string).codePointAt(0) as number) + 1;
    if (next <= 0x10ffff) return points.join("") + String.fromCodePoint(next === 0xd800 ? 0xe000 : next);
  }
  return undefined;
}
