/** Where a run began, and the way back there. */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AnyGraph } from "../../agents/graph-types.ts";
import type { EventRecords } from "../../records/records.ts";
import { CLAIM_KEY } from "../input/run-input.ts";
import { deleteState } from "../upkeep/remove-thread.ts";
import type { HeldThread } from "./claim-thread.ts";
import { headOf } from "./stall.ts";

export interface Beginning {
  /** The checkpoint the thread was at before the run; undefined for none. */
  readonly begunAt: string | undefined;
}

/**
 * The checkpoint that the first worker noted before the run did anything; undefined if no worker has begun the run. The
 * count of attempts does not show this, because a run that was given back is not counted.
 */
export async function beginningOf(
  events: Pick<EventRecords, "read">,
  runId: string,
): Promise<Beginning | undefined> {
  const [first] = await events.read(runId, 0, 1);
  // A run that was cancelled before it began has no metadata event.
  if (first?.event !== "metadata") return undefined;
  return { begunAt: JSON.parse(first.data).checkpoint_id ?? undefined };
}

export interface RollBack extends Beginning {
  readonly saver: BaseCheckpointSaver;
  readonly agent: AnyGraph;
  readonly threadId: string;
  readonly held: HeldThread | undefined;
}

/** Sets the thread back to its state before the run. The caller has claimed the run. Calling it twice is safe. */
export async function rollBack({ saver, agent, threadId, begunAt, held }: RollBack): Promise<void> {
  if ((await headOf(saver, threadId)) === begunAt) return;
  if (begunAt === undefined) {
    await deleteState(saver, threadId, held);
    return held?.release();
  }
  const configurable = { thread_id: threadId, checkpoint_id: begunAt, [CLAIM_KEY]: held };
  await agent.updateState({ configurable }, null, "__copy__");
}
