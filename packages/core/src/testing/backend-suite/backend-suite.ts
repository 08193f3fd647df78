/**
 * The conformance suite of backends: every backend of ours passes it, and one of yours can.
 *
 * It asks for what `BackendProtocol` promises and for nothing else. Each case opens a backend of its own,
 * works below its root, and closes it.
 */

import { CASE_TIMEOUT, ofSize, type SuiteRunner } from "../suite/suite-runner.ts";
import { type BackendCase, type BackendSuiteOptions, BackendUnderTest } from "./backend-case.ts";
import { changeCases } from "./change-cases.ts";
import { editCases } from "./edit-cases.ts";
import { encodingCases } from "./encoding-cases.ts";
import { globCases } from "./glob-cases.ts";
import { grepCases } from "./grep-cases.ts";
import { lsCases } from "./ls-cases.ts";
import { pathCases } from "./paths-cases.ts";
import { propertyCases } from "./properties-cases.ts";
import { protocolCases } from "./protocol-cases.ts";
import { readCases } from "./read-cases.ts";
import { transferCases } from "./transfer-cases.ts";

const TOPICS: readonly (readonly [topic: string, cases: readonly BackendCase[]])[] = [
  ["ls", lsCases],
  ["read", readCases],
  ["write, append and delete", changeCases],
  ["edit", editCases],
  ["encodings", encodingCases],
  ["grep", grepCases],
  ["glob", globCases],
  ["paths", pathCases],
  ["transfer", transferCases],
  ["the protocol", protocolCases],
  ["any input", propertyCases],
];

/** How many cases the suite has. */
export const BACKEND_SUITE_SIZE = TOPICS.reduce((sum, [, cases]) => sum + cases.length, 0);

/** Declares the cases to a test framework; they run when it runs them. */
export function backendSuite(runner: SuiteRunner, options: BackendSuiteOptions): void {
  const timeout = options.timeoutMs ?? CASE_TIMEOUT;
  runner.describe(options.name, () => {
    for (const [topic, cases] of TOPICS)
      runner.describe(topic, () => {
        for (const one of ofSize(cases, options.size))
          runner.test(one.name, () => runCase(one, options), timeout);
      });
  });
}

async function runCase(one: BackendCase, options: BackendSuiteOptions): Promise<void> {
  const opened = await options.open();
  try {
    const subject = new BackendUnderTest(opened, options);
    for (const need of one.needs ?? []) if (!subject.meets(need)) return;
    await one.run(subject);
  } finally {
    await opened.close?.();
  }
}
