/**
 * Pauses before requests to a model, shared by the agent, its subagents and their subagents.
 *
 * A provider that reports too many requests asks for a pause. Requests of any of them before its end would extend it.
 */
import { after } from "../../duration.ts";
import type { ModelPool } from "../providers/model-source.ts";

/** The end of each pause, by instance of a model or by the string it was made from. */
export class Pauses {
  /** Times of `performance.now`: a change of the system clock does not affect them. */
  readonly #ofInstances = new WeakMap<object, number>();
  readonly #ofNames = new Map<string, number>();

  /** Milliseconds left of the pause; 0 without one. */
  left(pool: ModelPool, now: number = performance.now()): number {
    const until = (typeof pool === "string" ? this.#ofNames.get(pool) : this.#ofInstances.get(pool)) ?? 0;
    if (until > now) return until - now;
    if (typeof pool === "string") this.#ofNames.delete(pool);
    return 0;
  }

  /** Starts or extends a pause; never makes one shorter. */
  set(pool: ModelPool, wait: number, now: number = performance.now()): void {
    if (this.left(pool, now) >= wait) return;
    if (typeof pool === "string") this.#ofNames.set(pool, now + wait);
    else this.#ofInstances.set(pool, now + wait);
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      stopTimer();
      reject(signal?.reason);
    };
    const stopTimer = after(milliseconds, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
