/** A checkpoint a client named: the engine takes one that is not there for an empty thread, and would begin anew. */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AnyGraph } from "../../agents/graph-types.ts";
import { missing } from "../service-error.ts";

export interface NamedCheckpoint {
  readonly threadId: string;
  /** Absent: the newest, which is always there. */
  readonly checkpointId: string | null | undefined;
}

/** NOT_FOUND unless the thread has it. Whose thread it is must be known before: ids of others are not to be guessed here. */
export async function checkCheckpointIsThere(
  { checkpointer }: AnyGraph,
  { threadId, checkpointId }: NamedCheckpoint,
): Promise<void> {
  if (checkpointId === undefined || checkpointId === null) return;
  const saver = typeof checkpointer === "object" ? (checkpointer as BaseCheckpointSaver) : undefined;
  const configurable = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: checkpointId };
  if (!(await saver?.getTuple({ configurable }))) throw missing("checkpoint");
}
