/** Keeps long work on the event loop from holding up others, and from going on for too long. */
import { setImmediate } from "node:timers/promises";

const SLICE_MILLISECONDS = 12;

export class Pace {
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  #sliceEnd: number;

  constructor(timeoutSeconds: number, signal?: AbortSignal) {
    const now = performance.now();
    this.#signal = signal;
    this.#deadline = now + timeoutSeconds * 1000;
    this.#sliceEnd = Math.min(now + SLICE_MILLISECONDS, this.#deadline);
  }

  /** Whether it is time to `rest`. */
  get isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /** Lets others run. False when the time is up; throws when the work was aborted. */
  async rest(): Promise<boolean> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    const now = performance.now();
    this.#sliceEnd = Math.min(now + SLICE_MILLISECONDS, this.#deadline);
    return now < this.#deadline;
  }
}
