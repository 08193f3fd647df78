/** The state of a thread, also of a thread with values that its agent cannot take. */
import type { BaseCheckpointSaver, CheckpointTuple, StateSnapshot } from "@langchain/langgraph";
import type { AnyGraph } from "../../agents/graph-types.ts";
import { isOutage } from "../execution/run-error.ts";

/**
 * Reads the state, with writes since the newest checkpoint as far as the agent takes them. A node or a tool may have
 * written a value that a reducer refuses. Then the state is the one of that checkpoint, with its open questions.
 */
export async function readState(
  agent: AnyGraph,
  config: Parameters<AnyGraph["getState"]>[0],
  options?: Parameters<AnyGraph["getState"]>[1],
): Promise<StateSnapshot> {
  try {
    return await agent.getState(config, options);
  } catch (error) {
    const { checkpointer } = agent;
    if (isOutage(error) || typeof checkpointer !== "object") throw error;
    const reader = agent.withConfig({}) as AnyGraph;
    reader.checkpointer = withoutWrites(checkpointer);
    return reader.getState(config, options);
  }
}

/** The saver without writes to channels since a checkpoint. */
function withoutWrites(saver: BaseCheckpointSaver): BaseCheckpointSaver {
  const getTuple: BaseCheckpointSaver["getTuple"] = async (config) => {
    const tuple = await saver.getTuple(config);
    return tuple && { ...tuple, pendingWrites: tuple.pendingWrites?.filter(isOfEngine) ?? [] };
  };
  return Object.create(saver, { getTuple: { value: getTuple } });
}

/** Interrupts and errors. */
function isOfEngine([, channel]: NonNullable<CheckpointTuple["pendingWrites"]>[number]): boolean {
  return channel === "__interrupt__" || channel === "__error__";
}
