/**
 * Removes threads: first their records, then their state in the saver, then the reservation of their id.
 *
 * Code that writes or deletes the state of a thread holds its claim, and has read the record since it took the claim.
 * So nothing is written after a removal, and a late removal does not touch a newer thread with the same id.
 */
import type { SharedSaver } from "@deepwright/checkpoint";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { RetiredThread, ServerRecords, ThreadKey } from "../../records/records.ts";
import { claimThread, type HeldThread } from "../execution/claim-thread.ts";

export interface RemovalParts {
  readonly records: Pick<ServerRecords, "threads">;
  readonly saver: BaseCheckpointSaver;
  readonly registry: Pick<AgentRegistry, "has" | "load">;
}

const CLAIM_MS = 15_000;

/**
 * `busy`: a run of it has not ended. Until `signal` aborts it waits for writers of the state; without a signal it
 * throws THREAD_BUSY. Housekeeping removes the rest after a failure.
 */
export async function removeThread(
  parts: RemovalParts,
  { owner, thread_id, incarnation }: ThreadKey,
  signal?: AbortSignal,
): Promise<"removed" | "busy" | "gone"> {
  const retired = await parts.records.threads.retire(owner, thread_id, incarnation);
  if (retired === undefined) return "gone";
  if (retired === "busy") return "busy";
  await finishRemoval(parts, retired, signal);
  return "removed";
}

/** Also for a removal that another process began. Calling it twice is safe. */
export async function finishRemoval(
  parts: RemovalParts,
  thread: RetiredThread,
  signal?: AbortSignal,
): Promise<void> {
  const { threads } = parts.records;
  const held = await claimThread(parts.saver, thread.thread_id, CLAIM_MS, signal);
  try {
    if (!(await threads.has(thread))) return;
    await deleteElsewhere(parts, thread);
    await deleteState(parts.saver, thread.thread_id, held);
    await threads.drop(thread);
  } finally {
    await held?.release().catch(() => undefined);
  }
}

/** Removes old data under a client's new thread id, if the id belongs to no thread. */
export async function clearLeftovers(
  { records: { threads }, saver }: Omit<RemovalParts, "registry">,
  threadId: string,
): Promise<void> {
  const { storage } = saver as Partial<SharedSaver>;
  if (storage === undefined || (await storage.epochOf(threadId)) === 0 || (await threads.isTaken(threadId)))
    return;
  const held = await claimThread(saver, threadId, CLAIM_MS, AbortSignal.timeout(CLAIM_MS * 2));
  try {
    if (!(await threads.isTaken(threadId))) await deleteState(saver, threadId, held);
  } finally {
    await held?.release().catch(() => undefined);
  }
}

/** Under the claim, which goes with the thread: storage refuses it when another has claimed the thread since. */
export async function deleteState(
  saver: BaseCheckpointSaver,
  threadId: string,
  held: HeldThread | undefined,
): Promise<void> {
  await (saver as Pick<SharedSaver, "deleteThread">).deleteThread(threadId, held);
}

/** The state of an agent that was built with a saver of its own. */
async function deleteElsewhere(
  { records, saver, registry }: RemovalParts,
  { owner, thread_id }: RetiredThread,
): Promise<void> {
  const { graph_id: graph } = (await records.threads.head(owner, thread_id))?.metadata ?? {};
  if (typeof graph !== "string" || !registry.has(graph)) return;
  const { checkpointer } = await registry.load(graph);
  if (typeof checkpointer === "object" && checkpointer !== saver) await checkpointer.deleteThread(thread_id);
}
