/** Checks a property and tells in few words how to see a failure again. */

import fc from "fast-check";
import { sized } from "../../../../scripts/test-size.ts";

const MOST_CHARACTERS = 3_000;
/** For a long search: `TEST_RUNS_FACTOR=50 npx vitest run packages/checkpoint`. */
const FACTOR = Number(process.env.TEST_RUNS_FACTOR ?? 1);

export async function holds<T>(property: fc.IAsyncProperty<T>, runs: number): Promise<void> {
  const seed = process.env.TEST_SEED ? { seed: Number(process.env.TEST_SEED) } : {};
  const limit = FACTOR === 1 ? { interruptAfterTimeLimit: 15_000 } : {};
  const details = await fc.check(property, {
    numRuns: Math.ceil(runs * sized(0.3, 1) * FACTOR),
    ...limit,
    ...seed,
  });
  if (!details.failed) return;
  const example = fc.stringify(details.counterexample).slice(0, MOST_CHARACTERS);
  throw new Error(
    `Does not hold (TEST_SEED=${details.seed}, path ${details.counterexamplePath}, ${details.numRuns} runs, ${details.numShrinks} shrinks): ${details.errorInstance}\n${example}`,
    { cause: details.errorInstance },
  );
}
