/**
 * Starting a process and looking for processes keep the thread busy for some milliseconds each. Where many
 * commands run at once they would add up, so each of them waits for a turn of the event loop of its own.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

let last: Promise<void> = Promise.resolve();

/** Resolves at the caller's turn. The work that blocks the thread must follow at once. */
export function busyTurn(): Promise<void> {
  last = last.then(() => nextTurn());
  return last;
}
