/** Rows of checkpoints and the writes on them. */
import { damaged } from "../storage/damaged.ts";
import { decodeRefs, encodeRefs } from "../storage/refs.ts";
import type { CheckpointRow, RowQuery, TupleRows, WritesRow } from "../storage/storage.ts";
import { bytesIn, countIn, integerIn, optional, textIn } from "./columns.ts";
import type { CheckpointKey } from "./dialect.ts";
import { packId, unpackId } from "./ids.ts";
import type { SqlRow, SqlValue } from "./sql.ts";
import type { Work } from "./work.ts";
import { writesOf } from "./writes.ts";

const JOINED = `SELECT t.thread_id, s.namespace, c.space, c.id, c.parent, c.root, c.refs, c.body
  FROM dw_threads t JOIN dw_spaces s ON s.thread = t.id JOIN dw_checkpoints c ON c.space = s.id`;

/** Returns whether the checkpoint is new. */
export async function upsertCheckpoint(
  { session }: Work,
  space: number,
  row: Omit<CheckpointRow, "threadId" | "namespace">,
  now: number,
): Promise<boolean> {
  const values: SqlValue[] = [
    space,
    packId(row.id),
    row.parent === undefined ? null : packId(row.parent),
    row.root === undefined ? null : packId(row.root),
    row.refs.length === 0 ? null : encodeRefs(row.refs),
    row.body,
  ];
  const inserted = await session.run(
    `INSERT INTO dw_checkpoints (space, id, parent, root, refs, body, stored_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (space, id) DO NOTHING`,
    [...values, now],
  );
  if (inserted > 0) return true;
  await session.run(
    "UPDATE dw_checkpoints SET parent = $3, root = $4, refs = $5, body = $6 WHERE space = $1 AND id = $2",
    values,
  );
  return false;
}

export async function readTuple(
  work: Work,
  threadId: string,
  namespace: string,
  checkpointId: string | undefined,
): Promise<TupleRows | undefined> {
  const values: SqlValue[] = [threadId, namespace];
  if (checkpointId !== undefined) values.push(packId(checkpointId));
  const rows = await work.session.all(
    `${JOINED} WHERE t.thread_id = $1 AND s.namespace = $2${checkpointId === undefined ? "" : " AND c.id = $3"}
      ORDER BY c.id DESC LIMIT 1`,
    values,
  );
  if (rows.length === 0 && namespace === "" && checkpointId === undefined) await checkIsNew(work, threadId);
  return (await withWrites(work, rows))[0];
}

/** Without its checkpoints a thread must not begin anew. Threads without a namespace "" are found by their count. */
async function checkIsNew({ session }: Work, threadId: string): Promise<void> {
  const spaces = await session.all(
    `SELECT t.checkpoint_count, s.namespace, (SELECT COUNT(*) FROM dw_checkpoints c WHERE c.space = s.id) AS present
      FROM dw_threads t LEFT JOIN dw_spaces s ON s.thread = t.id WHERE t.thread_id = $1`,
    [threadId],
  );
  let present = 0;
  for (const row of spaces) {
    optional(row, "namespace", textIn);
    present += Number(row.present);
  }
  const [first] = spaces;
  if (first && countIn(first, "checkpoint_count") > present)
    throw damaged(`checkpoints of the thread "${threadId}" are missing`);
}

export async function listRows(work: Work, query: RowQuery): Promise<TupleRows[]> {
  const values: SqlValue[] = [];
  const conditions = conditionsOf(query, (value) => `$${values.push(value)}`);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  values.push(query.limit);
  const rows = await work.session.all(
    `${JOINED}${where} ORDER BY t.thread_id, s.namespace, c.id DESC LIMIT $${values.length}`,
    values,
  );
  const found = await withWrites(work, rows);
  if (query.after && found[0]) checkFollows(query.after, found[0].checkpoint);
  return found;
}

/** Names that are no text come back as another text, and the list would begin again and again. */
function checkFollows(after: NonNullable<RowQuery["after"]>, row: CheckpointRow): void {
  const order =
    Buffer.compare(Buffer.from(row.threadId), Buffer.from(after.threadId)) ||
    Buffer.compare(Buffer.from(row.namespace), Buffer.from(after.namespace)) ||
    Buffer.compare(packId(after.id), packId(row.id));
  if (order <= 0) throw damaged(`the checkpoints of the thread "${row.threadId}" have no order`);
}

/** The conditions about `after` begin with one an index answers; the rest only trims its first rows. */
function conditionsOf(query: RowQuery, bind: (value: SqlValue) => string): string[] {
  const { threadId, namespace, checkpointId, before, after } = query;
  const conditions: string[] = [];
  if (threadId !== undefined) conditions.push(`t.thread_id = ${bind(threadId)}`);
  if (namespace !== undefined) conditions.push(`s.namespace = ${bind(namespace)}`);
  if (checkpointId !== undefined) conditions.push(`c.id = ${bind(packId(checkpointId))}`);
  if (before !== undefined) conditions.push(`c.id < ${bind(packId(before))}`);
  if (after === undefined) return conditions;
  const id = bind(packId(after.id));
  if (threadId !== undefined && namespace !== undefined) return [...conditions, `c.id < ${id}`];
  const name = bind(after.namespace);
  const inThread = `s.namespace >= ${name} AND (s.namespace > ${name} OR c.id < ${id})`;
  if (threadId !== undefined) return [...conditions, inThread];
  const thread = bind(after.threadId);
  return [...conditions, `t.thread_id >= ${thread} AND (t.thread_id > ${thread} OR (${inThread}))`];
}

async function withWrites({ session, dialect }: Work, rows: readonly SqlRow[]): Promise<TupleRows[]> {
  const keys = rows.map((row) => ({ space: integerIn(row, "space"), id: bytesIn(row, "id") }));
  const written = new Map(keys.map((key) => [nameOf(key), [] as WritesRow[]]));
  for (const row of await dialect.writesOf(session, keys)) {
    const key = { space: integerIn(row, "space"), id: bytesIn(row, "checkpoint") };
    written.get(nameOf(key))?.push(writesOf(row));
  }
  return rows.map((row, index) => ({
    checkpoint: checkpointOf(row),
    writes: written.get(nameOf(keys[index] as CheckpointKey)) ?? [],
  }));
}

function nameOf({ space, id }: CheckpointKey): string {
  return `${space} ${unpackId(id)}`;
}

function checkpointOf(row: SqlRow): CheckpointRow {
  return {
    threadId: textIn(row, "thread_id"),
    namespace: textIn(row, "namespace"),
    id: unpackId(bytesIn(row, "id")),
    parent: optional(row, "parent", idIn),
    root: optional(row, "root", idIn),
    refs: decodeRefs(optional(row, "refs", bytesIn) ?? null),
    body: textIn(row, "body"),
  };
}

function idIn(row: SqlRow, column: string): string {
  return unpackId(bytesIn(row, column));
}
