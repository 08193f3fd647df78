/**
 * Stores one step of a thread: objects, checkpoints, writes and before-images, in the transaction of the caller.
 *
 * A `ref` names an object. One from 0 on is the id of a stored object; -1, -2, … are the first, second, … object of
 * this batch. The `epoch` of a thread grows when objects of it are pruned, so a caller with an older epoch may hold ids
 * that are gone. It gets `stale` and sends the whole content.
 *
 * A space is the row of one namespace of a thread; subgraphs have namespaces of their own.
 */
import type { NewRows, PutBatch, PutResult } from "../storage/storage.ts";
import { upsertCheckpoint } from "./checkpoints.ts";
import { checkClaim } from "./claims.ts";
import { insertImage } from "./images.ts";
import { holdsAll, storeObjects } from "./objects.ts";
import { lockOrCreateThread, lockThread, type ThreadRecord, updateThread } from "./threads.ts";
import type { Work } from "./work.ts";
import { mergeWrites } from "./writes.ts";

export async function put(work: Work, batch: PutBatch): Promise<PutResult> {
  const oldRefs = storedRefs(batch);
  const found = await lockThread(work, batch.threadId, batch.namespace);
  if (found === undefined && oldRefs.size > 0) return { stale: true, epoch: 0 };
  const thread = found ?? (await lockOrCreateThread(work, batch.threadId, batch.namespace, batch.now));
  checkClaim(thread, batch.fence);
  if (batch.epoch !== thread.epoch && !(await holdsAll(work, thread.id, oldRefs))) {
    return { stale: true, epoch: thread.epoch };
  }
  const ids = await storeObjects(work, thread.id, batch.objects);
  await storeRows(work, thread, batch, (ref) => (ref < 0 ? (ids[-ref - 1] as number) : ref));
  return { stale: false, ids, epoch: thread.epoch };
}

async function storeRows(
  work: Work,
  thread: ThreadRecord,
  batch: PutBatch,
  resolve: (ref: number) => number,
): Promise<void> {
  const { facts, now, more = [] } = batch;
  let newCheckpoints = 0;
  let changed = facts !== undefined;
  for (const rows of [batch, ...more]) {
    newCheckpoints += await storeNamespace(work, thread, batch, rows, resolve);
    changed ||= rows.checkpoint !== undefined || rows.image !== undefined;
  }
  await updateThread(work, thread, { facts, updatedAt: changed ? now : undefined, newCheckpoints });
}

/**
 * Returns how many checkpoints are new. Postgres reads a joined row before it waits for the thread's lock, so another
 * session may have pruned the space meanwhile. The space counts only while the epoch is the one the caller knows.
 */
async function storeNamespace(
  work: Work,
  thread: ThreadRecord,
  batch: PutBatch,
  { namespace, checkpoint, writes, image }: NewRows,
  resolve: (ref: number) => number,
): Promise<number> {
  const { now } = batch;
  let newCheckpoints = 0;
  if (checkpoint || writes) {
    const known = namespace === batch.namespace && thread.epoch === batch.epoch ? thread.space : undefined;
    const space = known ?? (await spaceOf(work, thread.id, namespace));
    if (checkpoint) {
      const row = { ...checkpoint, refs: checkpoint.refs.map(resolve) };
      if (await upsertCheckpoint(work, space, row, now)) newCheckpoints = 1;
    }
    if (writes) {
      const entries = writes.entries.map((entry) => ({ ...entry, refs: entry.refs.map(resolve) }));
      await mergeWrites(work, space, writes.checkpointId, { taskId: writes.taskId, entries });
    }
  }
  if (image) {
    const before = image.before === undefined ? undefined : resolve(image.before);
    const after = image.after === undefined ? undefined : resolve(image.after);
    await insertImage(work, thread.id, { ...image, before, after }, now);
  }
  return newCheckpoints;
}

async function spaceOf({ session }: Work, thread: number, namespace: string): Promise<number> {
  const find = "SELECT id FROM dw_spaces WHERE thread = $1 AND namespace = $2";
  const [found] = await session.all(find, [thread, namespace]);
  if (found) return found.id as number;
  await session.run("INSERT INTO dw_spaces (thread, namespace) VALUES ($1, $2)", [thread, namespace]);
  const [made] = await session.all(find, [thread, namespace]);
  return made?.id as number;
}

/** References of the batch to objects that are already stored. */
function storedRefs(batch: PutBatch): Set<number> {
  const used = new Set<number>();
  const add = (refs: readonly (number | undefined)[]) => {
    for (const ref of refs) if (ref !== undefined && ref >= 0) used.add(ref);
  };
  for (const object of batch.objects) add(object.refs);
  for (const { checkpoint, writes, image } of [batch, ...(batch.more ?? [])]) {
    if (checkpoint) add(checkpoint.refs);
    for (const entry of writes?.entries ?? []) add(entry.refs);
    if (image) add([image.before, image.after]);
  }
  return used;
}
