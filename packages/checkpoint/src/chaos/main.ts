/** A command that plays scenarios at full length, one after another. */
import { parseArgs } from "node:util";
import { summary } from "./outcome.ts";
import type { Scenario } from "./scenarios.ts";
import { ChaosSite } from "./site.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SHOWN_FAILURES = 20;

function help(scenarios: readonly Scenario[]): string {
  const minutes = scenarios.reduce((sum, scenario) => sum + scenario.minutes, 0);
  const lines = scenarios.map(({ name, says, minutes }) => `  ${name.padEnd(24)} ${says} (${minutes} min)`);
  return `npm run chaos -- [--only <name>]… [--seed <number>]

Kills, stops, locks and fills until something breaks; about ${minutes} minutes in all on two cores.
Exits with 1 when something did. What failed leaves its files behind and says where.

${lines.join("\n")}`;
}

/** True when all went well. */
async function play(scenario: Scenario, seed: number): Promise<boolean> {
  if (scenario.platform !== undefined && scenario.platform !== process.platform) {
    console.log(`${scenario.name}: left out, it needs ${scenario.platform}`);
    return true;
  }
  const site = await ChaosSite.open(seed, scenario.bundle);
  current = site;
  const began = performance.now();
  try {
    const outcome = await scenario.run(site);
    console.log(`${summary(outcome)} in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    if (outcome.failures.length === 0) return true;
    for (const failure of outcome.failures.slice(0, SHOWN_FAILURES)) console.log(`  ${failure}`);
    console.log(`  kept: ${site.keepDirectories().join(" ")}`);
  } catch (error) {
    if (stopping) return false;
    console.log(`${scenario.name}: 0 ok, 1 failed (it could not go on)`, error);
  } finally {
    await site.close();
  }
  return false;
}

let current: ChaosSite | undefined;
let stopping = false;

/** Returns the exit code. */
export async function main(scenarios: readonly Scenario[]): Promise<number> {
  for (const signal of SIGNALS) process.on(signal, end);
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      seed: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(help(scenarios));
    return 0;
  }
  const unknown = values.only?.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    console.error(`There is no scenario '${unknown}'.\n\n${help(scenarios)}`);
    return 2;
  }
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  let failed = 0;
  for (const scenario of scenarios)
    if (!stopping && (values.only?.includes(scenario.name) ?? true))
      failed += (await play(scenario, seed)) ? 0 : 1;
  return failed === 0 ? 0 : 1;
}

/** A signal may come twice, from the terminal and from whoever started this. */
async function end(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await current?.close();
  process.exit(130);
}
