/** One asking of a model that ends: with a reply, an error, an abort, or because nothing was heard for too long. */
import type { AIMessage } from "@langchain/core/messages";
import { after } from "../../duration.ts";
import type { Ask, Attempt, Outgoing } from "../contract/stages.ts";

export interface AttemptTimes {
  /** Milliseconds without a sign of the model; a reply that is not streamed gives no sign before it is whole. */
  readonly idle: number;
  /** Milliseconds until the first sign; absent: as for the others. */
  readonly connect: number | undefined;
}

/** Nothing was heard. Named as the errors of time-outs elsewhere are. */
export class ModelSilentError extends Error {
  override readonly name = "TimeoutError";
}

/** Chunks after the end are dropped. The client gets an abort; a client that ignores it is not waited for. */
export async function askOnce(
  outgoing: Outgoing,
  next: Ask,
  stop: AbortSignal | undefined,
  times: AttemptTimes,
): Promise<AIMessage> {
  const watch = new Watch(stop, times);
  try {
    return await Promise.race([next({ ...outgoing, attempt: watch }), watch.ended]);
  } finally {
    watch.close();
  }
}

class Watch implements Attempt {
  readonly ended: Promise<never>;
  readonly #controller = new AbortController();
  readonly #stop: AbortSignal | undefined;
  readonly #times: AttemptTimes;
  #heardAt = performance.now();
  #isHeard = false;
  #stopTimer = (): void => {};
  #reject!: (reason: unknown) => void;

  constructor(stop: AbortSignal | undefined, times: AttemptTimes) {
    this.#stop = stop;
    this.#times = times;
    this.ended = new Promise((_, reject) => {
      this.#reject = reject;
    });
    // After the reply nothing waits for it.
    this.ended.catch(() => undefined);
    if (stop?.aborted) this.#end(stop.reason);
    else {
      stop?.addEventListener("abort", this.#stopped, { once: true });
      this.#arm(this.#limit);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#heardAt = performance.now();
    this.#isHeard = true;
  }

  close(): void {
    this.#stopTimer();
    this.#stop?.removeEventListener("abort", this.#stopped);
  }

  get #limit(): number {
    const { idle, connect } = this.#times;
    return this.#isHeard || connect === undefined ? idle : connect;
  }

  readonly #stopped = (): void => this.#end(this.#stop?.reason);

  #arm(wait: number): void {
    this.#stopTimer = after(Math.ceil(wait), this.#look);
  }

  /** A sign moves no timer: the timer looks when the last one was. */
  readonly #look = (): void => {
    const left = this.#limit - (performance.now() - this.#heardAt);
    if (left > 0) {
      this.#arm(left);
      return;
    }
    const what = this.#isHeard ? "stopped in the middle of its reply" : "did not answer";
    this.#end(new ModelSilentError(`the model ${what}: nothing came for ${this.#limit / 1000} seconds.`));
  };

  #end(reason: unknown): void {
    this.close();
    this.#reject(reason);
    this.#controller.abort(reason);
  }
}
