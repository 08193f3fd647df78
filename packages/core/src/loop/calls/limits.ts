/** Bounds on running tools: how many at once, and how long each. */
import { after } from "../../duration.ts";

/** Lets at most `limit` bodies run at a time; the others wait in the order they came. */
export class Semaphore {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  async run<T>(body: () => Promise<T>): Promise<T> {
    if (this.running >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await body();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}

export class TimedOut extends Error {
  constructor(readonly seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/**
 * Runs `body` with a signal that also fires at the deadline, and rejects with TimedOut then, even if `body` ignores the
 * signal. A later result of `body` is ignored.
 */
export async function withDeadline<T>(
  seconds: number | undefined,
  signal: AbortSignal | undefined,
  body: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (seconds === undefined) return body(signal);
  const controller = new AbortController();
  const timedOut = new TimedOut(seconds);
  let stop = (): void => {};
  const deadline = new Promise<never>((_, reject) => {
    stop = after(seconds * 1000, () => {
      reject(timedOut);
      controller.abort(timedOut);
    });
  });
  const work = body(signal ? AbortSignal.any([signal, controller.signal]) : controller.signal);
  // After the deadline nothing waits for the tool, so nothing handles its failure.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    stop();
  }
}
