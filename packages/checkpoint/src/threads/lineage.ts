/** The checkpoints a state came from, and how a caller names one of them. */
import { DeepwrightError } from "deepwright/errors";
import type { CheckpointRow, ThreadStorage, WritesRow } from "../storage/storage.ts";
import type { StateReader, StoredState } from "./stored-state.ts";

const PAGE = 100;

export interface Lineage {
  readonly threadId: string;
  /** First to last. The first one's parent may have been pruned. */
  readonly states: readonly StoredState[];
  readonly head: StoredState;
  /** Writes pending on the head. */
  readonly writes: readonly WritesRow[];
}

/** Lineage of the newest checkpoint, or of the given one. Throws THREAD_NOT_FOUND. */
export async function lineageOf(
  storage: ThreadStorage,
  reader: StateReader,
  threadId: string,
  checkpointId?: string,
): Promise<Lineage> {
  const newest = await storage.readTuple(threadId, "", checkpointId);
  if (!newest) throw threadNotFound(threadId);
  const rows = [newest.checkpoint, ...(await ancestors(storage, newest.checkpoint))].reverse();
  const states = await reader.states(rows);
  return { threadId, states, head: states.at(-1) as StoredState, writes: newest.writes };
}

/** Newest first. Parents are older than their children, so one walk down the list meets them all. */
async function ancestors(storage: ThreadStorage, youngest: CheckpointRow): Promise<CheckpointRow[]> {
  const { threadId, namespace } = youngest;
  const found: CheckpointRow[] = [];
  let { id, parent: wanted } = youngest;
  while (wanted !== undefined) {
    const page = await storage.listRows({
      threadId,
      namespace,
      after: { threadId, namespace, id },
      limit: PAGE,
    });
    for (const { checkpoint } of page) {
      if (checkpoint.id !== wanted) continue;
      found.push(checkpoint);
      wanted = checkpoint.parent;
    }
    const last = page.at(-1)?.checkpoint;
    if (!last || page.length < PAGE) break;
    id = last.id;
  }
  return found;
}

/** A number is a step of the lineage, the newest if several have it; a string is any checkpoint of the thread. */
export async function stateAt(
  storage: ThreadStorage,
  reader: StateReader,
  lineage: Lineage,
  step: number | string,
): Promise<StoredState> {
  const { threadId, states } = lineage;
  const known = states.findLast((state) => state.step === step || state.row.id === step);
  if (known) return known;
  const rows =
    typeof step === "string" && step !== "" ? await storage.readTuple(threadId, "", step) : undefined;
  if (rows) return (await reader.states([rows.checkpoint]))[0] as StoredState;
  const what = typeof step === "number" ? `step ${step}` : `checkpoint '${step}'`;
  throw new DeepwrightError("INVALID_INPUT", `The thread '${threadId}' has no ${what}.`, {
    hint: `Its steps are ${stepRanges(states)}.`,
  });
}

function stepRanges(states: readonly StoredState[]): string {
  const ranges: [number, number][] = [];
  for (const { step } of states) {
    const last = ranges.at(-1);
    if (last && step === last[1] + 1) last[1] = step;
    else ranges.push([step, step]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`)).join(", ");
}

export function threadNotFound(threadId: string): DeepwrightError {
  return new DeepwrightError("THREAD_NOT_FOUND", `There is no thread '${threadId}'.`, {
    hint: "List the threads to see their ids.",
  });
}
