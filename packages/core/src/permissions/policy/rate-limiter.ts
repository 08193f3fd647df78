import type { FileError } from "../../backends/backend.ts";
import { ConfigurationError } from "../../errors.ts";

/** So many operations in any span of so many seconds. */
export interface RateLimit {
  readonly operations: number;
  readonly perSeconds: number;
}

/** The last operations of all backends that share it. */
export class RateLimiter {
  readonly #limit: RateLimit;
  /** When each of the last operations was, oldest first, in milliseconds. */
  readonly #times: number[] = [];

  constructor(limit: RateLimit) {
    const { operations, perSeconds } = limit;
    if (
      !(Number.isInteger(operations) && operations >= 1) ||
      !(perSeconds > 0 && Number.isFinite(perSeconds))
    )
      throw new ConfigurationError(
        "INVALID_OPTION",
        "rateLimit needs `operations`, a whole number of at least 1, and `perSeconds`, a number above 0.",
      );
    this.#limit = limit;
  }

  /** Counts one operation, or returns when the next one is possible. A refused operation does not count. */
  take(now: number = performance.now()): FileError | undefined {
    const { operations, perSeconds } = this.#limit;
    const oldest = now - perSeconds * 1000;
    while (this.#times.length > 0 && (this.#times[0] as number) <= oldest) this.#times.shift();
    if (this.#times.length < operations) {
      this.#times.push(now);
      return undefined;
    }
    const seconds = Math.max(1, Math.ceil(((this.#times[0] as number) - oldest) / 1000));
    return {
      error: `More than ${operations} file operations in ${perSeconds} seconds. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}`,
      code: "RATE_LIMITED",
    };
  }
}
