/** One thread in memory. */
import type { CheckpointRow, ImageRow, ThreadFacts, WriteEntry } from "./storage.ts";

export interface Space {
  readonly checkpoints: Map<string, { readonly row: CheckpointRow; readonly storedAt: number }>;
  /** By checkpoint, then task, then place. */
  readonly writes: Map<string, Map<string, Map<number, WriteEntry>>>;
}

type Facts = { -readonly [Key in keyof Omit<ThreadFacts, "threadId">]: ThreadFacts[Key] };

export interface MemoryThread extends Facts {
  epoch: number;
  fence: number;
  claimHolder: string | undefined;
  claimExpires: number;
  readonly spaces: Map<string, Space>;
  readonly images: ImageRow[];
}

const EPOCHS_PER_THREAD = 2 ** 20;
let made = 0;

/** Epoch and fence begin where no earlier thread of that name can have been. */
export function newThread(now: number): MemoryThread {
  made += 1;
  return {
    epoch: made * EPOCHS_PER_THREAD,
    fence: made * EPOCHS_PER_THREAD,
    claimHolder: undefined,
    claimExpires: 0,
    spaces: new Map(),
    images: [],
    title: undefined,
    firstPrompt: undefined,
    messageCount: 0,
    checkpointCount: 0,
    model: undefined,
    cwd: undefined,
    createdAt: now,
    updatedAt: now,
  };
}

/** The objects its rows refer to. */
export function rootsOf(thread: MemoryThread): Set<number> {
  const roots = new Set<number>();
  for (const { checkpoints, writes } of thread.spaces.values()) {
    for (const { row } of checkpoints.values()) for (const ref of row.refs) roots.add(ref);
    for (const tasks of writes.values())
      for (const entries of tasks.values())
        for (const { refs } of entries.values()) for (const ref of refs) roots.add(ref);
  }
  for (const { before, after } of thread.images)
    for (const ref of [before, after]) if (ref !== undefined) roots.add(ref);
  return roots;
}
