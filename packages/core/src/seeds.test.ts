/** Stops, kills, refusals and compactions at random: no request a provider would refuse ever leaves. */
import { expect, test } from "vitest";
import { sized } from "../../../scripts/test-size.ts";
import { ThreadLife } from "./seeds-for-tests.ts";

const SEEDS = Number(process.env.TEST_SEEDS ?? sized(30, 1_000));
const FIRST = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

test(`${SEEDS} random lives of threads make no invalid request`, {
  timeout: 600_000 + SEEDS * 1_000,
}, async () => {
  let modelCalls = 0;
  let compactions = 0;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    const outcome = await new ThreadLife(seed).live().catch((error) => {
      throw new Error(`TEST_SEED=${seed} TEST_SEEDS=1: ${String(error)}`, { cause: error });
    });
    expect(outcome.violations, `TEST_SEED=${seed} TEST_SEEDS=1`).toEqual([]);
    modelCalls += outcome.modelCalls;
    compactions += outcome.compactions;
  }
  console.log(`seeds from ${FIRST}: ${modelCalls} model calls, ${compactions} calls of the summariser`);
  expect(modelCalls).toBeGreaterThan(SEEDS);
  if (SEEDS >= 100) expect(compactions).toBeGreaterThan(0);
});
