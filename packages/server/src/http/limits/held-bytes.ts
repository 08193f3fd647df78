/** Memory that requests hold: their bodies, what was read for them and their answers, for each caller and for the process. */
import { Problem } from "../problems.ts";

export interface HeldLimits {
  /** Bytes all requests of one caller may hold. */
  readonly caller: number;
  /** Bytes all requests of the process may hold. */
  readonly process: number;
}

/** The part of one request. */
export interface Held {
  /**
   * Counts more bytes. Throws 429 when the caller holds too much, 503 when the process does; then nothing is counted. A
   * request that holds little is never refused.
   */
  add(bytes: number): void;
  /** Counts this many bytes instead of all before; these exist already, so it refuses nothing. */
  keep(bytes: number): void;
  /** Counts nothing any more. Safe twice. */
  release(): void;
}

/** Requests up to this size, such as health checks and cancellations, must work when memory is short. */
const LITTLE = 64 * 1024;

export class HeldBytes {
  readonly #limits: HeldLimits;
  readonly #callers = new Map<string, number>();
  #total = 0;

  constructor(limits: HeldLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  open(caller: string): Held {
    let own = 0;
    const keep = (bytes: number) => {
      this.#change(caller, bytes - own);
      own = bytes;
    };
    return {
      add: (bytes) => {
        if (own + bytes <= LITTLE) return keep(own + bytes);
        if ((this.#callers.get(caller) ?? 0) + bytes > this.#limits.caller) throw callerHolds(this.#limits);
        if (this.#total + bytes > this.#limits.process) throw processHolds();
        keep(own + bytes);
      },
      keep,
      release: () => keep(0),
    };
  }

  #change(caller: string, bytes: number): void {
    this.#total += bytes;
    const left = (this.#callers.get(caller) ?? 0) + bytes;
    if (left > 0) this.#callers.set(caller, left);
    else this.#callers.delete(caller);
  }
}

const SOON = { headers: { "retry-after": "1" } };

function callerHolds({ caller }: HeldLimits): Problem {
  return new Problem(
    "RATE_LIMITED",
    `The requests of this caller hold more than ${caller} bytes: send fewer at a time, or ask for less.`,
    SOON,
  );
}

function processHolds(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The requests under way need all memory there is for requests. Nothing was done: ask again later.",
    SOON,
  );
}
