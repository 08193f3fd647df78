/**
 * Pauses that everyone who asks the same model keeps: the agent, its children and their children.
 *
 * When a provider says that it had too many requests, each further one only makes it worse.
 */
import { after } from "../../duration.ts";
import type { ModelPool } from "../providers/model-source.ts";

/** Pauses that end by themselves: by instance of a model, or by the string it was made from. */
export class Pauses {
  /** Until when, by `performance.now`: nobody sets that clock. */
  readonly #ofInstances = new WeakMap<object, number>();
  readonly #ofNames = new Map<string, number>();

  /** Milliseconds that are left; 0: there is no pause. */
  left(pool: ModelPool, now: number = performance.now()): number {
    const until = (typeof pool === "string" ? this.#ofNames.get(pool) : this.#ofInstances.get(pool)) ?? 0;
    if (until > now) return until - now;
    if (typeof pool === "string") this.#ofNames.delete(pool);
    return 0;
  }

  /** Never makes one shorter. */
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
