/** What `Last-Event-ID` names: the number of an event of a run, in the stream of a thread with its run. */
import { identifier } from "./ids.ts";

export interface EventPlace {
  /** From 1, without gaps within a run; 0: before the first. */
  readonly sequence: number;
  /** In the stream of a thread, which has more than one run. */
  readonly runId?: string;
}

/** `17` in the stream of a run, `<run_id>:17` in the stream of a thread. */
export function formatEventId({ sequence, runId }: EventPlace): string {
  return runId === undefined ? String(sequence) : `${runId}:${sequence}`;
}

/** Undefined: not one of ours, which the server answers with 400. `-1`, as SDKs write it, is before the first event. */
export function parseEventId(id: string): EventPlace | undefined {
  if (id === "-1") return { sequence: 0 };
  const match = /^(?:(.{1,128}):)?(\d{1,15})$/.exec(id);
  if (!match) return undefined;
  const [, runId, digits] = match;
  const sequence = Number(digits);
  if (runId === undefined) return { sequence };
  return identifier.safeParse(runId).success ? { sequence, runId } : undefined;
}
