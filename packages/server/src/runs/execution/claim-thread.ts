/** The claim on a thread that a run holds in the saver. */
import type { BaseCheckpointSaver } from "@langchain/langgraph";

export interface HeldThread {
  readonly threadId: string;
  readonly fence: number;
  /** Safe twice. */
  release(): Promise<void>;
}

/**
 * With a claim, storage refuses writes of a worker that lost the thread, and its loop stops. Undefined: the saver has
 * no claims, and the last write wins. Without a signal it does not wait: THREAD_BUSY.
 */
export async function claimThread(
  saver: BaseCheckpointSaver,
  threadId: string,
  ttlMs: number,
  signal: AbortSignal | undefined,
): Promise<HeldThread | undefined> {
  if (!("claimThread" in saver)) return undefined;
  const claiming = saver as unknown as { claimThread(id: string, options: object): Promise<HeldThread> };
  return claiming.claimThread(threadId, {
    mode: signal ? "queue" : "refuse",
    ttl: ttlMs / 1_000,
    ...(signal && { signal }),
  });
}
