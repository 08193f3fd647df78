/**
 * The conformance suite of providers: how places are opened, found again and ended, as `SandboxProvider` promises.
 *
 * What commands and files do is asked by `sandboxSuite` and `backendSuite` of `deepwright/testing`: run them on a
 * sandbox of the provider too. The commands need a POSIX shell and the usual small programs.
 */
import type { SuiteRunner } from "deepwright/testing";
import { type LeaseCase, LeaseScene, type LeaseSuiteOptions } from "./lease-suite-case.ts";
import { endingCases, findingCases, openingCases } from "./lease-suite-life.ts";
import { sourceCases } from "./lease-suite-source.ts";

const TOPICS: readonly (readonly [topic: string, cases: readonly LeaseCase[]])[] = [
  ["opening", openingCases],
  ["finding again", findingCases],
  ["ending", endingCases],
  ["leases", sourceCases],
];

/** How many cases the suite has. */
export const LEASE_SUITE_SIZE = TOPICS.reduce((sum, [, cases]) => sum + cases.length, 0);

/** Declares the cases to a test framework; they run when it runs them. What a provider cannot do is not asked of it. */
export function leaseSuite(runner: SuiteRunner, options: LeaseSuiteOptions): void {
  const timeout = options.timeoutMs ?? 60_000;
  runner.describe(options.name, () => {
    for (const [topic, cases] of TOPICS)
      runner.describe(topic, () => {
        for (const one of cases) runner.test(one.name, () => runCase(one, options), timeout);
      });
  });
}

async function runCase(one: LeaseCase, options: LeaseSuiteOptions): Promise<void> {
  const scene = new LeaseScene(options);
  if (one.needs?.(scene.provider, options) === false) return;
  try {
    await one.run(scene);
  } finally {
    await scene.close();
  }
}
