import { onTestFinished } from "vitest";
import { type Outcome, summary } from "./outcome.ts";
import type { WorkerProgram } from "./program.ts";
import { ChaosSite } from "./site.ts";

/** Runs a scenario of a test. `CHAOS_SEED` repeats the random moments of a run that failed. */
export async function inTest(
  scenario: (site: ChaosSite) => Promise<Outcome>,
  bundle?: () => Promise<WorkerProgram>,
): Promise<Outcome> {
  const site = await ChaosSite.open(Number(process.env.CHAOS_SEED ?? Date.now() % 2 ** 31), bundle);
  onTestFinished(() => site.close());
  const outcome = await scenario(site);
  if (outcome.failures.length > 0) console.error(`${summary(outcome)} CHAOS_SEED=${site.random.seed}`);
  return outcome;
}
