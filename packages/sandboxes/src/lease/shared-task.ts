/** One task that several wait for: it is begun by the first and stopped when the last has gone. */

interface Running<Value> {
  readonly promise: Promise<Value>;
  readonly controller: AbortController;
  waiting: number;
}

export class SharedTask<Value> {
  readonly #begin: (signal: AbortSignal) => Promise<Value>;
  #running: Running<Value> | undefined;

  constructor(begin: (signal: AbortSignal) => Promise<Value>) {
    this.#begin = begin;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The result of the task. A caller that is stopped leaves at once; a task that is being stopped is waited for and begun anew. */
  async join(signal: AbortSignal | undefined): Promise<Value> {
    while (this.#running?.controller.signal.aborted) {
      await settled(this.#running.promise);
      signal?.throwIfAborted();
    }
    const running = this.#running ?? this.#start();
    running.waiting += 1;
    try {
      return await orStopped(running.promise, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0 && this.#running === running) running.controller.abort(signal?.reason);
    }
  }

  /** Stops it, and waits until it has ended. */
  async stop(reason: unknown): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.controller.abort(reason);
    await settled(running.promise);
  }

  #start(): Running<Value> {
    const controller = new AbortController();
    const promise = this.#begin(controller.signal).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    const running: Running<Value> = { promise, controller, waiting: 0 };
    this.#running = running;
    return running;
  }
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {
    // Callers that wait for the result get the error.
  });
}

function orStopped<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
