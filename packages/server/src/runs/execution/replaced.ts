/** Finds the run that took the thread of another. */
import type { RunRecord, ServerRecords } from "../../records/records.ts";

/** Runs behind it that are looked at. */
const MOST = 100;

export interface Replacement {
  readonly run_id: string;
  readonly by: string;
  readonly strategy: "interrupt" | "rollback";
}

/** A run that has not ended is ended by every later run with such a strategy; the first of them counts. */
export async function replacementOf(
  { runs }: Pick<ServerRecords, "runs">,
  { owner, thread_id, run_id, sequence }: RunRecord,
): Promise<Replacement | undefined> {
  let behind = sequence;
  for (let looked = 0; looked < MOST; looked += 1) {
    const next = await runs.next(owner, thread_id, behind);
    if (next === undefined) return undefined;
    const { multitask_strategy: strategy } = next;
    if (strategy === "interrupt" || strategy === "rollback") return { run_id, by: next.run_id, strategy };
    behind = next.sequence;
  }
  return undefined;
}
