/**
 * The conformance suite of providers: how sandboxes are opened, found again and ended, as `SandboxProvider` promises.
 *
 * `sandboxSuite` and `backendSuite` of `deepwright/testing` check commands and files: run them on a sandbox of the
 * provider too. The commands need a POSIX shell and the usual small programs.
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

/** A case that is not declared, because it cannot be asked of this provider. */
export interface LeftOutCase {
  readonly name: string;
  readonly because: string;
}

export interface DeclaredLeaseSuite {
  /** Names of the cases that run. */
  readonly asked: readonly string[];
  readonly leftOut: readonly LeftOutCase[];
}

/**
 * Declares the cases to a test framework, which runs them. Cases that the provider cannot support are not declared but
 * returned: they are neither passed nor skipped.
 */
export function leaseSuite(runner: SuiteRunner, options: LeaseSuiteOptions): DeclaredLeaseSuite {
  const timeout = options.timeoutMs ?? 300_000;
  const provider = options.provider();
  const asked: string[] = [];
  const leftOut: LeftOutCase[] = [];
  const canBeAsked = ({ name, needs = [] }: LeaseCase): boolean => {
    const unmet = needs.find((need) => !need.isMet(provider, options));
    if (unmet === undefined) asked.push(name);
    else leftOut.push({ name, because: unmet.because });
    return unmet === undefined;
  };
  const topics = TOPICS.map(([topic, cases]) => [topic, cases.filter(canBeAsked)] as const);
  runner.describe(options.name, () => {
    // A framework may take an empty topic for a mistake.
    for (const [topic, cases] of topics)
      if (cases.length > 0)
        runner.describe(topic, () => {
          for (const one of cases) runner.test(one.name, () => runCase(one, options), timeout);
        });
  });
  return { asked, leftOut };
}

async function runCase(one: LeaseCase, options: LeaseSuiteOptions): Promise<void> {
  const scene = new LeaseScene(options);
  try {
    await one.run(scene);
  } finally {
    await scene.close();
  }
}
