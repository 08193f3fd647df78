/**
 * Calls to the disk that do not wait are the fastest, but many in a row keep others waiting, also when each
 * belongs to an operation of its own. So all of them share one measure of time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 15;

let sliceEnd = 0;

/** Lets others run when the time is up; throws when `signal` is aborted. Undefined: just go on. */
export function breathe(signal?: AbortSignal): Promise<void> | undefined {
  return performance.now() < sliceEnd ? undefined : rest(signal);
}

async function rest(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  sliceEnd = performance.now() + SLICE_MS;
  signal?.throwIfAborted();
}
