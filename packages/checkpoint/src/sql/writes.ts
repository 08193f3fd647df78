/** All that one task wrote on a checkpoint, as one row. */
import { damaged, readStored } from "../storage/damaged.ts";
import { decodeRefs, encodeRefs } from "../storage/refs.ts";
import type { WriteEntry, WritesRow } from "../storage/storage.ts";
import { bytesIn, optional, textIn } from "./columns.ts";
import { packId, unpackId } from "./ids.ts";
import type { SqlRow } from "./sql.ts";
import type { Work } from "./work.ts";

interface Columns {
  readonly refs: Uint8Array | null;
  /** A line of JSON that tells index, channel, length of body and number of references, then the bodies. */
  readonly body: string;
}

/** Existing regular entries stay, special ones (index < 0) are replaced. */
export async function mergeWrites(
  { session }: Work,
  space: number,
  checkpointId: string,
  { taskId, entries }: WritesRow,
): Promise<void> {
  const key = [space, packId(checkpointId), packId(taskId)];
  const [row] = await session.all(
    "SELECT refs, body FROM dw_writes WHERE space = $1 AND checkpoint = $2 AND task = $3",
    key,
  );
  if (row === undefined) {
    const { refs, body } = encodeEntries(mergeEntries([], entries));
    await session.run(
      "INSERT INTO dw_writes (space, checkpoint, task, refs, body) VALUES ($1, $2, $3, $4, $5)",
      [...key, refs, body],
    );
    return;
  }
  const { refs, body } = encodeEntries(mergeEntries(decodeEntries(row), entries));
  if (body === row.body && sameBytes(refs, row.refs as Uint8Array | null)) return;
  await session.run(
    "UPDATE dw_writes SET refs = $4, body = $5 WHERE space = $1 AND checkpoint = $2 AND task = $3",
    [...key, refs, body],
  );
}

/** In the order of the index, as they are read back. */
export function mergeEntries(
  present: readonly WriteEntry[],
  added: readonly WriteEntry[],
): readonly WriteEntry[] {
  const merged = new Map(present.map((entry) => [entry.index, entry]));
  for (const entry of added) {
    if (entry.index < 0 || !merged.has(entry.index)) merged.set(entry.index, entry);
  }
  return [...merged.values()].sort((one, other) => one.index - other.index);
}

export function encodeEntries(entries: readonly WriteEntry[]): Columns {
  const line = entries.map(({ index, channel, body, refs }) => [index, channel, body.length, refs.length]);
  const refs = entries.flatMap((entry) => entry.refs);
  return {
    refs: refs.length === 0 ? null : encodeRefs(refs),
    body: `${JSON.stringify(line)}\n${entries.map((entry) => entry.body).join("")}`,
  };
}

type Line = readonly [index: number, channel: string, length: number, refs: number];

export function decodeEntries(row: SqlRow): WriteEntry[] {
  const text = textIn(row, "body");
  const refs = decodeRefs(optional(row, "refs", bytesIn) ?? null);
  const end = text.indexOf("\n");
  const line = readStored("a task's writes", () => JSON.parse(text.slice(0, end))) as readonly Line[];
  if (!Array.isArray(line) || !line.every(isLine)) throw damaged("a task's writes have no list of entries");
  let position = end + 1;
  let nextRef = 0;
  const entries = line.map(([index, channel, length, count]) => {
    const body = text.slice(position, position + length);
    position += length;
    nextRef += count;
    return { index, channel, body, refs: refs.slice(nextRef - count, nextRef) };
  });
  if (position !== text.length || nextRef !== refs.length) throw damaged("a task's writes are cut off");
  return entries;
}

function isLine(line: unknown): boolean {
  if (!Array.isArray(line)) return false;
  const [index, channel, length, count] = line as unknown[];
  const isLength = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  return Number.isSafeInteger(index) && typeof channel === "string" && isLength(length) && isLength(count);
}

export function writesOf(row: SqlRow): WritesRow {
  return { taskId: unpackId(bytesIn(row, "task")), entries: decodeEntries(row) };
}

function sameBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
