/**
 * Runs tests once for each name of a mutation, in one vitest: started again for each, it would take longer than the tests.
 * Prints a line of JSON after each run. `mutate.ts` starts it and ends it when a run hangs.
 *
 *     node --import tsx scripts/mutation-runs.ts '{"tests": […], "names": ["", …], "transformed": "directory"}'
 */
import { writeSync } from "node:fs";
import { BaseSequencer, createVitest, type TestSpecification } from "vitest/node";

interface Task {
  readonly tests: readonly string[];
  /** "" is the code without a change. */
  readonly names: readonly string[];
  readonly transformed: string;
}
const { tests, names, transformed }: Task = JSON.parse(process.argv[2] as string);

/** The order in which the tests are listed: the first fails most often. */
class ListedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => tests.findIndex((test) => moduleId.endsWith(test));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

const vitest = await createVitest("test", {
  watch: false,
  bail: 1,
  reporters: [{}],
  sequence: { sequencer: ListedOrder },
  experimental: { fsModuleCache: true, fsModuleCachePath: transformed },
});
const specifications = await vitest.globTestSpecifications([...tests]);
for (const { config } of vitest.projects) {
  config.maxWorkers = 1;
  config.sequence.groupOrder = 0;
}
for (const name of names) {
  for (const { config } of vitest.projects) config.env = { ...config.env, MUTATION: name };
  const begin = performance.now();
  // Failures of the run before would count for `bail`.
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const passed = unhandledErrors.length === 0 && testModules.every((module) => module.ok());
  writeSync(1, `${JSON.stringify({ passed, ms: performance.now() - begin })}\n`);
}
await vitest.close();
process.exit(0);
