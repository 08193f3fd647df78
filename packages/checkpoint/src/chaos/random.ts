/** Random numbers that a seed repeats: what went wrong once can be looked at again. */

export interface Random {
  readonly seed: number;
  /** At least 0, below `limit`. */
  below(limit: number): number;
  /** One of the two, `share` of the time true. */
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** The generator mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => next() * limit;
  return {
    seed,
    below,
    chance: (share) => next() < share,
    pick: (choices) => choices[Math.floor(below(choices.length))] as never,
  };
}
