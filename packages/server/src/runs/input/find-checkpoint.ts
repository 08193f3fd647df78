/**
 * Checks the checkpoint that a client named: the engine would treat an unknown one as an empty thread, and start anew.
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AnyGraph } from "../../agents/graph-types.ts";
import { missing } from "../service-error.ts";

export interface NamedCheckpoint {
  readonly threadId: string;
  /** Absent: the newest, which is always there. */
  readonly checkpointId: string | null | undefined;
}

/**
 * NOT_FOUND unless the thread has it. The caller has checked the owner of the thread, so ids of others cannot be
 * guessed here.
 */
export async function checkCheckpointIsThere(
  { checkpointer }: AnyGraph,
  { threadId, checkpointId }: NamedCheckpoint,
): Promise<void> {
  if (checkpointId === undefined || checkpointId === null) return;
  const saver = typeof checkpointer === "object" ? (checkpointer as BaseCheckpointSaver) : undefined;
  const configurable = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: checkpointId };
  if (!(await saver?.getTuple({ configurable }))) throw missing("checkpoint");
}
