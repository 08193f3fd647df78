/** What `npm test` prints while the tests run: progress, failures as they come, and at the end the slowest files and every retry. */
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { DefaultReporter, type TestModule, type TestRunEndReason, type TestSpecification } from "vitest/node";

const TIMES = new URL("test-times.json", import.meta.url);
const SHOWN_EVERY_MS = 15_000;
/** Seconds of a file that no recorded run has seen. */
const UNKNOWN_FILE = 1;
/** Files that run at once, for the first estimate. */
const AT_ONCE = 2.5;

type Log = Parameters<DefaultReporter["onUserConsoleLog"]>[0];

/** Seconds each test file took in the recorded run, by its path from the root. */
export function recordedTimes(): Record<string, number> {
  return JSON.parse(readFileSync(TIMES, "utf8"));
}

export default class ProgressReporter extends DefaultReporter {
  readonly #recorded = recordedTimes();
  readonly #seconds = new Map<string, number>();
  readonly #retries: string[] = [];
  #files: string[] = [];
  #began = 0;
  #shownAt = 0;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#began = performance.now();
    this.#files = specifications.map(({ moduleId }) => this.#name(moduleId));
    this.log(`${this.#files.length} files, about ${minutes(this.#expected(this.#files) / AT_ONCE)}`);
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    this.#seconds.set(this.#name(module.moduleId), (collectDuration + setupDuration + duration) / 1_000);
    for (const test of module.children.allTests())
      if ((test.diagnostic()?.retryCount ?? 0) > 0)
        this.#retries.push(`${module.relativeModuleId}: ${test.fullName}`);
    this.#showProgress();
  }

  override onUserConsoleLog(log: Log, ...rest: never[]): void {
    const retried = log.content.match(/^RETRY (.*)/)?.[1];
    if (retried === undefined) super.onUserConsoleLog(log, ...rest);
    else this.#retries.push(retried);
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: Parameters<DefaultReporter["onTestRunEnd"]>[1],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    const slowest = [...this.#seconds].toSorted((a, b) => b[1] - a[1]);
    this.log("\nSlowest files:");
    for (const [name, seconds] of slowest.slice(0, 10))
      this.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
    this.log(this.#retries.length === 0 ? "Retries: none" : `Retries: ${this.#retries.length}`);
    for (const retry of this.#retries) this.log(`  ${retry}`);
    if (process.env.TEST_RECORD_TIMES === "1") this.#record();
    if (process.env.TEST_REPORT)
      writeFileSync(process.env.TEST_REPORT, JSON.stringify(report(modules, errors)));
  }

  /** Files that pass are counted, not listed. */
  protected override printTestModule(module: TestModule): void {
    if (module.state() === "failed") super.printTestModule(module);
  }

  #showProgress(): void {
    const now = performance.now();
    const isLast = this.#seconds.size === this.#files.length;
    if (!isLast && now - this.#shownAt < (this.isTTY ? 1_000 : SHOWN_EVERY_MS)) return;
    this.#shownAt = now;
    const elapsed = (now - this.#began) / 1_000;
    const [done, all] = [this.#expected([...this.#seconds.keys()]), this.#expected(this.#files)];
    const total = done < all / 20 ? all / AT_ONCE : (elapsed * all) / done;
    this.log(
      `${this.#seconds.size} of ${this.#files.length} files, ${minutes(elapsed)} of about ${minutes(total)}`,
    );
  }

  #expected(names: readonly string[]): number {
    return names.reduce((sum, name) => sum + (this.#recorded[name] ?? UNKNOWN_FILE), 0);
  }

  #record(): void {
    const sorted = [...this.#seconds].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const rounded = sorted.map(([name, seconds]) => [name, Math.round(seconds * 10) / 10]);
    writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
  }

  #name(moduleId: string): string {
    return relative(this.ctx.config.root, moduleId);
  }
}

/** What `test-steps.mjs` counts and repeats. `errors` counts errors outside of tests, and files that did not load. */
function report(modules: readonly TestModule[], errors: readonly unknown[]) {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const failedModules = modules.filter((module) => module.state() === "failed");
  const didNotLoad = failedModules.filter(({ children }) => [...children.allTests("failed")].length === 0);
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    errors: errors.length + didNotLoad.length,
    failedFiles: failedModules.map(({ relativeModuleId }) => relativeModuleId),
    failedTests: failedModules.flatMap(({ relativeModuleId, children }) =>
      [...children.allTests("failed")].map(({ fullName }) => `${relativeModuleId}: ${fullName}`),
    ),
  };
}

function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")} min`;
}
