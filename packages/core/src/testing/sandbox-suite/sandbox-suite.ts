/**
 * The conformance suite of sandboxes: what `SandboxBackendProtocol` promises beyond a backend.
 *
 * The commands need a POSIX shell and the usual small programs, nothing more. Each case opens a sandbox,
 * and closes it. Run `backendSuite` on the same sandbox for its file methods.
 */

import { CASE_TIMEOUT, ofSize, type SuiteRunner } from "../suite/suite-runner.ts";
import { commandCases } from "./commands-cases.ts";
import { fileCases } from "./files-cases.ts";
import { loadCases } from "./load-cases.ts";
import { outputCases } from "./output-cases.ts";
import { type SandboxCase, type SandboxSuiteOptions, SandboxUnderTest } from "./sandbox-case.ts";
import { timeCases } from "./time-cases.ts";

const TOPICS: readonly (readonly [topic: string, cases: readonly SandboxCase[]])[] = [
  ["commands", commandCases],
  ["output", outputCases],
  ["time, abort and parallel commands", timeCases],
  ["commands and files", fileCases],
  ["size and many at once", loadCases],
];

/** How many cases the suite has. */
export const SANDBOX_SUITE_SIZE = TOPICS.reduce((sum, [, cases]) => sum + cases.length, 0);

/** Declares the cases to a test framework; they run when it runs them. */
export function sandboxSuite(runner: SuiteRunner, options: SandboxSuiteOptions): void {
  const timeout = options.timeoutMs ?? CASE_TIMEOUT;
  runner.describe(options.name, () => {
    for (const [topic, cases] of TOPICS)
      runner.describe(topic, () => {
        for (const one of ofSize(cases, options.size))
          runner.test(one.name, () => runCase(one, options), timeout);
      });
  });
}

async function runCase(one: SandboxCase, options: SandboxSuiteOptions): Promise<void> {
  const opened = await options.open();
  try {
    await one.run(new SandboxUnderTest(opened, options));
  } finally {
    await opened.close?.();
  }
}
