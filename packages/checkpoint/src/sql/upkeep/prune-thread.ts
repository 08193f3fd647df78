/** Removes old checkpoints of one thread and the objects that only they need. */

import { type PrunableRow, type PruneRule, planPrune } from "../../storage/prune-plan.ts";
import { decodeHead, decodeRefs } from "../../storage/refs.ts";
import type { PruneResult } from "../../storage/storage.ts";
import { bytesIn, integerIn, optional, textIn } from "../columns.ts";
import type { CheckpointKey } from "../dialect.ts";
import { unpackId } from "../ids.ts";
import type { SqlRow } from "../sql.ts";
import { lockThread } from "../threads.ts";
import type { Work } from "../work.ts";
import { beginSweep, giveUp } from "./sweep.ts";

interface Candidate extends PrunableRow {
  readonly key: CheckpointKey;
  /** Bytes of the row and of its writes. */
  readonly bytes: number;
}

export const NOTHING_PRUNED: PruneResult = { checkpoints: 0, objects: 0, bytes: 0 };

export async function pruneThread(work: Work, threadId: string, rule: PruneRule): Promise<PruneResult> {
  await beginSweep(work);
  const thread = await lockThread(work, threadId);
  if (thread === undefined) return NOTHING_PRUNED;
  const going = planPrune(await candidates(work, thread.id), rule);
  const images = await goingImages(work, thread.id, rule, new Set(going.map((row) => row.id)));
  if (going.length === 0 && images.length === 0) return NOTHING_PRUNED;
  const { session, dialect } = work;
  await dialect.removeCheckpoints(
    session,
    going.map((row) => row.key),
  );
  await session.run(`DELETE FROM dw_images WHERE sequence ${dialect.among("$1")}`, [dialect.list(images)]);
  await session.run(
    `DELETE FROM dw_spaces WHERE thread = $1
      AND NOT EXISTS (SELECT 1 FROM dw_checkpoints c WHERE c.space = dw_spaces.id)
      AND NOT EXISTS (SELECT 1 FROM dw_writes w WHERE w.space = dw_spaces.id)`,
    [thread.id],
  );
  const freed = await sweepThread(work, thread.id);
  await session.run(
    "UPDATE dw_threads SET epoch = epoch + 1, checkpoint_count = checkpoint_count - $1 WHERE id = $2",
    [going.length, thread.id],
  );
  const rowBytes = going.reduce((sum, row) => sum + row.bytes, 0);
  return { checkpoints: going.length, objects: freed.objects, bytes: freed.bytes + rowBytes };
}

async function candidates({ session }: Work, thread: number): Promise<Candidate[]> {
  const rows = await session.all(
    `SELECT s.namespace, c.space, c.id, c.root, c.stored_at, substr(c.body, 1, 1) AS mark,
      octet_length(c.body) + COALESCE(octet_length(c.refs), 0) + (SELECT COALESCE(SUM(octet_length(w.body)
      + COALESCE(octet_length(w.refs), 0)), 0) FROM dw_writes w WHERE w.space = c.space AND w.checkpoint = c.id)
      AS bytes FROM dw_spaces s JOIN dw_checkpoints c ON c.space = s.id WHERE s.thread = $1
      ORDER BY c.space, c.id DESC`,
    [thread],
  );
  return rows.map((row) => ({
    namespace: textIn(row, "namespace"),
    id: unpackId(bytesIn(row, "id")),
    root: optional(row, "root", (_, column) => unpackId(bytesIn(row, column))),
    storedAt: integerIn(row, "stored_at"),
    needsAncestors: row.mark === "D",
    key: { space: integerIn(row, "space"), id: bytesIn(row, "id") },
    bytes: Number(row.bytes),
  }));
}

/** Old before-images, and those of steps that no rewind can reach any more. */
async function goingImages(
  { session }: Work,
  thread: number,
  rule: PruneRule,
  goneCheckpoints: ReadonlySet<string>,
): Promise<number[]> {
  const rows = await session.all("SELECT sequence, checkpoint, stored_at FROM dw_images WHERE thread = $1", [
    thread,
  ]);
  const goes = (row: SqlRow) =>
    (rule.olderThan !== undefined && integerIn(row, "stored_at") < rule.olderThan) ||
    goneCheckpoints.has(unpackId(bytesIn(row, "checkpoint")));
  return rows.filter(goes).map((row) => integerIn(row, "sequence"));
}

/** Gives up objects of the thread that none of its rows leads to. */
async function sweepThread(
  work: Work,
  thread: number,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const { session, dialect } = work;
  const held = await session.all(
    `SELECT o.id, o.head, o.owner FROM dw_objects o WHERE o.owner = $1 UNION ALL
      SELECT o.id, o.head, o.owner FROM dw_shares s JOIN dw_objects o ON o.id = s.object WHERE s.thread = $1`,
    [thread],
  );
  const reached = reachable(await rootRefs(work, thread), held);
  const unreached = held.filter((row) => !reached.has(row.id as number));
  const owned = unreached.filter((row) => row.owner === thread).map((row) => row.id as number);
  const shared = unreached.filter((row) => row.owner !== thread).map((row) => row.id as number);
  await session.run(`DELETE FROM dw_shares WHERE thread = $1 AND object ${dialect.among("$2")}`, [
    thread,
    dialect.list(shared),
  ]);
  return giveUp(work, owned);
}

/** Objects that the thread's rows refer to directly. */
async function rootRefs({ session }: Work, thread: number): Promise<number[]> {
  const rows = await session.all(
    `SELECT c.refs FROM dw_spaces s JOIN dw_checkpoints c ON c.space = s.id
      WHERE s.thread = $1 AND c.refs IS NOT NULL UNION ALL
      SELECT w.refs FROM dw_spaces s JOIN dw_writes w ON w.space = s.id
      WHERE s.thread = $1 AND w.refs IS NOT NULL`,
    [thread],
  );
  const images = await session.all("SELECT before_ref, after_ref FROM dw_images WHERE thread = $1", [thread]);
  const ofImages = images
    .flatMap((row) => [optional(row, "before_ref", integerIn), optional(row, "after_ref", integerIn)])
    .filter((ref) => ref !== undefined);
  return [...rows.flatMap((row) => decodeRefs(bytesIn(row, "refs"))), ...ofImages];
}

function reachable(roots: readonly number[], held: readonly SqlRow[]): Set<number> {
  const heads = new Map(held.map((row) => [integerIn(row, "id"), bytesIn(row, "head")]));
  const reached = new Set<number>();
  const waiting = [...roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const head = heads.get(id);
    if (head === undefined || reached.has(id)) continue;
    reached.add(id);
    for (const ref of decodeHead(head).refs) waiting.push(ref);
  }
  return reached;
}
