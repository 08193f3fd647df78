/** The claim on a thread that a run holds in the saver. */
import type { BaseCheckpointSaver } from "@langchain/langgraph";

export interface HeldThread {
  readonly threadId: string;
  readonly fence: number;
  /** Safe twice. */
  release(): Promise<void>;
}

/**
 * Storage then refuses what a worker writes that lost the thread, and loops do nothing more. Undefined: the saver
 * gives no claims, and the last write counts. Without a signal it does not wait: THREAD_BUSY.
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
