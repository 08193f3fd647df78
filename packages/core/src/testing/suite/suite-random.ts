/** Random cases that can be run again: the seed is in the failure, and `TEST_SEED` brings it back. */
import { SuiteFailure } from "./suite-check.ts";

/** A small generator of its own; a suite needs no library for it. */
export class SuiteRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** From `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.integer(0, values.length - 1)] as Value;
  }

  /** Up to `most` values of `make`. */
  list<Value>(most: number, make: () => Value): Value[] {
    return Array.from({ length: this.integer(0, most) }, make);
  }
}

export interface RandomOptions {
  /** Default: `TEST_SEED` of the environment, else the time. */
  readonly seed?: number;
  readonly runs?: number;
}

/** Runs `property` with `runs` seeds in a row; the first that fails says which one it was. */
export async function forRandom(
  options: RandomOptions,
  property: (random: SuiteRandom) => Promise<void>,
): Promise<void> {
  const first = options.seed ?? seedOfEnvironment() ?? Date.now() % 0x7fff_ffff;
  for (let run = 0; run < (options.runs ?? 20); run++) {
    const seed = first + run;
    try {
      await property(new SuiteRandom(seed));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const failure = new SuiteFailure(`${reason} (run it again with TEST_SEED=${seed})`);
      failure.cause = error;
      throw failure;
    }
  }
}

function seedOfEnvironment(): number | undefined {
  const text = typeof process === "undefined" ? undefined : process.env.TEST_SEED;
  const seed = text ? Number(text) : Number.NaN;
  return Number.isInteger(seed) ? seed : undefined;
}
