/** Intervals over cases. The bootstrap has a fixed seed: the same records give the same interval. */

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const SAMPLES = 4_000;
const TAIL = 0.025;
const SEED = 20_260_101;

/** 95 % interval of the mean of `values`, by resampling them; undefined for none. */
export function bootstrap(values: readonly number[]): Interval | undefined {
  if (values.length === 0) return undefined;
  const random = mulberry32(SEED);
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let index = 0; index < values.length; index += 1)
      sum += values[Math.floor(random() * values.length)] as number;
    return sum / values.length;
  }).sort((one, other) => one - other);
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    low: means[Math.floor(TAIL * SAMPLES)] as number,
    high: means[Math.ceil((1 - TAIL) * SAMPLES) - 1] as number,
  };
}

/** Differences of the same cases in two columns, resampled together. Cases that only one has are left out. */
export function pairedDifference(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): (Interval & { readonly cases: number }) | undefined {
  const differences = [...one].flatMap(([key, value]) => {
    const paired = other.get(key);
    return paired === undefined ? [] : [value - paired];
  });
  const interval = bootstrap(differences);
  return interval === undefined ? undefined : { ...interval, cases: differences.length };
}

/** Cases below which no paired difference is shown: five that all point one way do so by chance in 6 % of all runs. */
export const FEWEST_CASES = 6;

const Z = 1.96;

/** 95 % interval of Wilson of the mean of `shares`. It keeps its width when all are 0 or 1, which a bootstrap does not. */
export function wilson(shares: readonly number[]): Interval | undefined {
  const n = shares.length;
  if (n === 0) return undefined;
  const mean = shares.reduce((sum, share) => sum + share, 0) / n;
  const middle = (mean + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((mean * (1 - mean)) / n + Z ** 2 / (4 * n ** 2));
  return { mean, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** Whether an interval of a difference leaves zero out. */
export function showsDifference({ low, high }: Interval): boolean {
  return low > 0 || high < 0;
}

/** Two-sided p of Fisher's exact test: two shares that differ so much by chance alone. */
export function fisher(
  one: { readonly passed: number; readonly trials: number },
  other: { readonly passed: number; readonly trials: number },
): number {
  const passed = one.passed + other.passed;
  const all = one.trials + other.trials;
  const chance = (first: number) =>
    Math.exp(choose(one.trials, first) + choose(other.trials, passed - first) - choose(all, passed));
  const seen = chance(one.passed);
  let p = 0;
  for (let first = Math.max(0, passed - other.trials); first <= Math.min(one.trials, passed); first += 1)
    if (chance(first) <= seen * (1 + 1e-9)) p += chance(first);
  return Math.min(1, p);
}

/** Logarithm of the binomial coefficient. */
function choose(n: number, k: number): number {
  let sum = 0;
  for (let index = 1; index <= k; index += 1) sum += Math.log((n - k + index) / index);
  return sum;
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
