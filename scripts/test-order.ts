/**
 * The order of test files: the longest first, so that no long file runs alone at the end. Files with a process of their
 * own come before the others, because a shared worker ends when the next file wants its own.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { recordedTimes } from "./test-reporter.ts";

export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const times = recordedTimes();
    const isShared = ({ project }: TestSpecification) => Number(!project.config.isolate);
    const seconds = ({ moduleId }: TestSpecification) => times[relative(this.ctx.config.root, moduleId)] ?? 1;
    return files.toSorted((a, b) => isShared(a) - isShared(b) || seconds(b) - seconds(a));
  }
}
