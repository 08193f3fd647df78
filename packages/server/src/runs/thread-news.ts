/** Wakes readers of a thread when a run begins there in this process; of runs of other processes they learn by looking. */
import { after } from "deepwright/duration";

export class ThreadNews {
  readonly #waiting = new Map<string, Set<() => void>>();

  tell(threadId: string): void {
    for (const wake of [...(this.#waiting.get(threadId) ?? [])]) wake();
  }

  /** Resolves with the next news of the thread, when the signal fires, or after so many milliseconds. */
  wait(threadId: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const waiting = this.#waiting.get(threadId) ?? new Set();
      this.#waiting.set(threadId, waiting);
      const wake = () => {
        stop();
        signal.removeEventListener("abort", wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(threadId) === waiting) this.#waiting.delete(threadId);
        done();
      };
      const stop = after(milliseconds, wake);
      waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}
