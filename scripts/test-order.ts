/** The order of test files: a worker that is shared ends when the next file wants one of its own, so these come first. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Take longest, whatever their size: begun last they would leave the other core idle. */
const LONGEST = [
  "cli/src/providers.test.ts",
  "core/src/backends/sandbox/base-sandbox-suite.test.ts",
  "cli/src/memory/consolidate-command.test.ts",
  "sandboxes/src/docker/docker-suite.test.ts",
  "cli/src/approvals.test.ts",
  "sandboxes/src/docker/docker-files-suite.test.ts",
  "sandboxes/src/os/os-suite.test.ts",
  "checkpoint/src/saver/postgres-saver.test.ts",
  "core/src/seeds.test.ts",
  "core/src/loop/crash.test.ts",
];

export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  if (project.config.isolate) return 0;
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? LONGEST.length + 1 : place + 1;
}
