/**
 * Runs that are started again and again: a run that makes progress continues, a run that kills its workers is given up.
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { RunClaim, ServerRecords } from "../../records/records.ts";
import { ClaimLost } from "./event-writer.ts";

export interface StallParts {
  readonly records: ServerRecords;
  readonly saver: BaseCheckpointSaver;
  /** Attempts that began at the same step. */
  readonly maxAttempts: number;
}

/** So many times `maxAttempts`, whether it got further or not. */
const ALL_ATTEMPTS = 10;

/**
 * Reads the thread to see its progress. That read may be what killed the worker before, so it happens at most once more
 * than the limit.
 */
export async function isStalled(parts: StallParts, claim: RunClaim): Promise<boolean> {
  const { records, maxAttempts } = parts;
  const { run, stalled } = claim;
  if (run.attempts > maxAttempts * ALL_ATTEMPTS || stalled > maxAttempts + 1) return true;
  if (stalled <= 1) return false;
  const [first] = await records.events.read(run.run_id, 0, 1);
  const head = await headOf(parts.saver, run.thread_id);
  const before: string | undefined = first === undefined ? head : JSON.parse(first.data).checkpoint_id;
  const attempts = await records.runs.noteStall(claim, before, head);
  if (attempts === undefined) throw new ClaimLost();
  return attempts > maxAttempts;
}

/** The newest checkpoint of a thread; undefined: it has none. */
export async function headOf(saver: BaseCheckpointSaver, threadId: string): Promise<string | undefined> {
  return (await saver.getTuple({ configurable: { thread_id: threadId } }))?.checkpoint.id;
}
