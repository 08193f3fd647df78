/** The value of `Last-Event-ID`: the number of an event of a run, in the stream of a thread with its run. */
import { isIdentifier } from "../identifier.ts";

export interface EventPlace {
  /** From 1, without gaps within a run; 0: before the first. */
  readonly sequence: number;
  /** In the stream of a thread, which has more than one run. */
  readonly runId?: string;
  /** With a run: its place among those of the thread, so that the stream goes on also when the run is gone. */
  readonly runSequence?: number;
}

/** `17` in the stream of a run; in the stream of a thread `<run_id>:17.3`, for event 17 of its third run. */
export function formatEventId({ sequence, runId, runSequence }: EventPlace): string {
  if (runId === undefined) return String(sequence);
  return `${runId}:${sequence}${runSequence === undefined ? "" : `.${runSequence}`}`;
}

/** Undefined: not one of ours, which the server answers with 400. `-1`, as SDKs write it, is before the first event. */
export function parseEventId(id: string): EventPlace | undefined {
  if (id === "-1") return { sequence: 0 };
  const match = /^(?:(.{1,128}):)?(\d{1,15})(?:\.(\d{1,15}))?$/.exec(id);
  if (!match) return undefined;
  const [, runId, digits, order] = match;
  const sequence = Number(digits);
  if (runId === undefined) return order === undefined ? { sequence } : undefined;
  if (!isIdentifier(runId)) return undefined;
  return { sequence, runId, ...(order !== undefined && { runSequence: Number(order) }) };
}
