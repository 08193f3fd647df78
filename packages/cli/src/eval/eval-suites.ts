/** Suites and harnesses that the person named. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Harness, Suite } from "@deepwright/evals";
import { usageError } from "../command-error.ts";
import { importProgram } from "../serve/import-program.ts";
import type { RawEvalOptions } from "./eval-command-line.ts";

type Evals = typeof import("@deepwright/evals");

/**
 * The suites that the person named: built-in categories or cases (`category/case`), and paths. Live models leave out cases
 * with faults, which only scripts can have.
 */
export async function suitesOf(names: readonly string[], evals: Evals, isLive: boolean): Promise<Suite[]> {
  const { BUILT_IN_SUITES, loadSuites } = evals;
  if (names.length === 0) return BUILT_IN_SUITES.map((suite) => playable(suite, isLive));
  const found = await Promise.all(
    names.map(async (name) => {
      const builtIn = builtInNamed(name, BUILT_IN_SUITES);
      if (builtIn !== undefined) return [playable(builtIn, isLive)];
      if (existsSync(name)) return loadSuites(name, importProgram);
      const known = BUILT_IN_SUITES.map(({ category }) => `"${category}"`).join(", ");
      throw usageError(`There is no path and no category '${name}'.`, `The categories are ${known}.`);
    }),
  );
  return merged(found.flat());
}

function builtInNamed(name: string, suites: readonly Suite[]): Suite | undefined {
  const [category, id] = name.split("/");
  const suite = suites.find((each) => each.category === category);
  if (suite === undefined || id === undefined) return suite;
  const cases = suite.cases.filter((each) => each.id === id);
  return cases.length === 0 ? undefined : { category: suite.category, cases };
}

/** Cases of one category stand together, also when they were named one by one. */
function merged(suites: readonly Suite[]): Suite[] {
  const categories = [...new Set(suites.map(({ category }) => category))];
  return categories.map((category) => ({
    category,
    cases: suites.filter((each) => each.category === category).flatMap(({ cases }) => cases),
  }));
}

function playable({ category, cases }: Suite, isLive: boolean): Suite {
  return { category, cases: isLive ? cases.filter(({ faults, window }) => !faults && !window) : cases };
}

/** Deepwright and those of the person's own modules. Scripted models fail at once, so nothing waits between retries. */
export async function harnessesOf(
  { harness = [] }: RawEvalOptions,
  evals: Evals,
  isLive: boolean,
): Promise<Harness[]> {
  const own = await Promise.all(
    harness.map(async (file) => {
      const { default: given } = await importProgram(resolve(file));
      const { name, create } = (given ?? {}) as Partial<Harness>;
      if (typeof name === "string" && typeof create === "function") return given as Harness;
      throw usageError(`${file} needs a harness as its default export: { name, create }.`);
    }),
  );
  return [evals.deepwrightHarness({ retryWait: isLive ? "usual" : "none" }), ...own];
}
