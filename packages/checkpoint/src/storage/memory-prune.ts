/** Removes old checkpoints from threads in memory. */

import type { MemoryObjects } from "./memory-objects.ts";
import { type MemoryThread, rootsOf } from "./memory-thread.ts";
import { type PrunableRow, planPrune } from "./prune-plan.ts";
import type { PruneQuery } from "./storage.ts";

/** Returns how many checkpoints went. */
export function pruneThreads(
  threads: readonly MemoryThread[],
  objects: MemoryObjects,
  query: PruneQuery,
): number {
  const { keepLatest, olderThan, maxBytes, onlyImages } = query;
  let removed = 0;
  if (keepLatest !== undefined || olderThan !== undefined)
    for (const thread of threads) {
      if (olderThan !== undefined) forgetImages(thread, olderThan);
      removed += remove(thread, objects, planPrune(rowsOf(thread), { keepLatest, olderThan, onlyImages }));
    }
  return maxBytes === undefined ? removed : removed + shrink(threads, objects, maxBytes, onlyImages);
}

/** Newest first within each namespace. */
function rowsOf(thread: MemoryThread): PrunableRow[] {
  return [...thread.spaces].flatMap(([namespace, { checkpoints }]) =>
    [...checkpoints.values()]
      .map(({ row, storedAt }) => ({
        namespace,
        id: row.id,
        root: row.root,
        storedAt,
        needsAncestors: row.body.startsWith("D"),
      }))
      .sort((left, right) => (left.id < right.id ? 1 : -1)),
  );
}

function remove(thread: MemoryThread, objects: MemoryObjects, going: readonly PrunableRow[]): number {
  for (const { namespace, id } of going) {
    const space = thread.spaces.get(namespace);
    space?.checkpoints.delete(id);
    space?.writes.delete(id);
    if (space?.checkpoints.size === 0) thread.spaces.delete(namespace);
  }
  thread.checkpointCount -= going.length;
  thread.epoch += 1;
  objects.keepOnly(thread, rootsOf(thread));
  return going.length;
}

function forgetImages(thread: MemoryThread, olderThan: number): void {
  const kept = thread.images.filter(({ at }) => at >= olderThan);
  thread.images.splice(0, thread.images.length, ...kept);
}

/** Removes the oldest checkpoints of all threads first, those of one moment together. */
function shrink(
  threads: readonly MemoryThread[],
  objects: MemoryObjects,
  maxBytes: number,
  onlyImages = false,
): number {
  let removed = 0;
  const moments = new Set(threads.flatMap((thread) => momentsOf(thread, onlyImages)));
  for (const moment of [...moments].sort((left, right) => left - right)) {
    if (objects.total().bytes <= maxBytes) break;
    for (const thread of threads) {
      if (onlyImages) forgetImages(thread, moment + 1);
      const going = planPrune(rowsOf(thread), { olderThan: moment + 1, onlyImages });
      if (going.length > 0 || onlyImages) removed += remove(thread, objects, going);
    }
  }
  return removed;
}

function momentsOf(thread: MemoryThread, onlyImages: boolean): number[] {
  return onlyImages ? thread.images.map(({ at }) => at) : rowsOf(thread).map(({ storedAt }) => storedAt);
}
