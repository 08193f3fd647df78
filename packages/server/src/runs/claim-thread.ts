/** The claim on a thread that a run holds in the saver. */
import type { BaseCheckpointSaver } from "@langchain/langgraph";

export interface HeldThread {
  /** Safe twice. */
  release(): Promise<void>;
}

/**
 * Storage then refuses what a worker writes that lost the thread, and loops do nothing more. Undefined: the saver
 * gives no claims, and whoever writes last counts.
 */
export async function claimThread(
  saver: BaseCheckpointSaver,
  threadId: string,
  ttlMs: number,
  signal: AbortSignal,
): Promise<HeldThread | undefined> {
  if (!("claimThread" in saver)) return undefined;
  const claiming = saver as unknown as { claimThread(id: string, options: object): Promise<HeldThread> };
  return claiming.claimThread(threadId, { mode: "queue", ttl: ttlMs / 1_000, signal });
}
