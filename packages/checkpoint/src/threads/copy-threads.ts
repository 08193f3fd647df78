/** Everything of one storage into another. */
import { DeepwrightError } from "deepwright/errors";
import type { SharedSaver } from "../saver/shared-saver.ts";
import type { ThreadFacts } from "../storage/storage.ts";
import { exportThread } from "./export-thread.ts";
import { importThread } from "./import-thread.ts";

const PAGE = 100;

export interface CopyProgress {
  readonly threadId: string;
  readonly checkpointCount: number;
  /** `exists`: there is a thread of that name in the target, which stays as it is. */
  readonly result: "copied" | "exists";
  /** Threads done so far, this one included. */
  readonly done: number;
}

export interface CopyResult {
  readonly copied: number;
  /** Ids of threads that were in the target already. */
  readonly existing: readonly string[];
}

/** One thread after the other, each whole or not at all; may be repeated after it was broken off. */
export async function copyThreads(
  from: SharedSaver,
  to: SharedSaver,
  options: { readonly onProgress?: (progress: CopyProgress) => void; readonly signal?: AbortSignal } = {},
): Promise<CopyResult> {
  const existing: string[] = [];
  let copied = 0;
  for await (const { threadId, checkpointCount } of allThreads(from)) {
    options.signal?.throwIfAborted();
    const isNew = await copyOne(from, to, threadId, options.signal);
    if (isNew) copied += 1;
    else existing.push(threadId);
    const done = copied + existing.length;
    options.onProgress?.({ threadId, checkpointCount, result: isNew ? "copied" : "exists", done });
  }
  return { copied, existing };
}

async function copyOne(
  from: SharedSaver,
  to: SharedSaver,
  threadId: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await importThread(to, untilAborted(exportThread(from.storage, threadId), signal), undefined);
    return true;
  } catch (error) {
    if (error instanceof DeepwrightError && error.code === "THREAD_EXISTS") return false;
    throw error;
  }
}

async function* untilAborted(
  lines: AsyncIterable<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  for await (const line of lines) {
    signal?.throwIfAborted();
    yield line;
  }
}

async function* allThreads({ storage }: SharedSaver): AsyncGenerator<ThreadFacts> {
  let after: { updatedAt: number; threadId: string } | undefined;
  while (true) {
    const page = await storage.listThreads({ limit: PAGE, after });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = { updatedAt: last.updatedAt, threadId: last.threadId };
  }
}
