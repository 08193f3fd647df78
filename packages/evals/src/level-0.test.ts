import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUILT_IN_SUITES } from "./cases/index.ts";
import { type DeepwrightHarnessOptions, deepwrightHarness } from "./harness/deepwright-harness.ts";
import type { Feature } from "./harness/feature-switches.ts";
import { scriptedSource } from "./runner/model-source.ts";
import { runEvals } from "./runner/run-evals.ts";
import type { RunReport } from "./runner/trial-record.ts";

const GUIDE = readFileSync(new URL("../../../docs/evals.md", import.meta.url), "utf8");

/** The weaknesses that the evals know of. A case that is solved one day leaves this list. */
const UNSOLVED = [
  "file operations/replaces-a-whole-file",
  "file operations/finds-a-path-after-a-mistake-in-capitals",
  "retrieval/asks-for-a-page-with-misnamed-numbers",
  "tool use/stops-before-the-work-is-done",
  "memory/learns-by-replacing-the-file",
  "memory/a-long-memory-file",
  "delegation/two-children-change-one-file",
];

function run(
  categories: readonly string[] | "all",
  options: DeepwrightHarnessOptions = {},
): Promise<RunReport> {
  return runEvals({
    suites: BUILT_IN_SUITES.filter(({ category }) => categories === "all" || categories.includes(category)),
    harnesses: [deepwrightHarness({ ...options, retryWait: "none" })],
    models: [scriptedSource],
  });
}

/** Deepwright on all cases, once for this file. */
let whole: Promise<RunReport> | undefined;
const wholeRun = () => {
  whole ??= run("all");
  return whole;
};

function solved({ records }: RunReport, category: string): number {
  return records.filter((each) => each.category === category && each.status === "passed").length;
}

test("each category has enough cases", () => {
  const sizes = Object.fromEntries(BUILT_IN_SUITES.map(({ category, cases }) => [category, cases.length]));
  const [large, small] = [Object.entries(sizes).slice(0, 6), Object.entries(sizes).slice(6)];
  expect(large.filter(([, size]) => size < 15)).toEqual([]);
  expect(small.filter(([, size]) => size < 8)).toEqual([]);
});

test("Deepwright solves all built-in cases but the known ones, and sends no invalid request", async () => {
  const { records } = await wholeRun();
  const failed = records.filter(({ status }) => status !== "passed");
  expect(failed.map((record) => `${record.category}/${record.case}`)).toEqual(UNSOLVED);
  expect(records.reduce((sum, { usage }) => sum + usage.invalidRequests, 0)).toBe(0);
});

test("two runs give the same records, times aside", async () => {
  const [one, other] = [await wholeRun(), await run(["tool use", "durability", "delegation"])];
  const categories = new Set(other.records.map(({ category }) => category));
  const plain = ({ records }: RunReport) =>
    records
      .filter(({ category }) => categories.has(category))
      .map((record) => JSON.stringify({ ...record, times: undefined }));
  expect(plain(other)).toEqual(plain(one));
});

test.each<[Feature, string]>([
  ["offload", "long context"],
  ["repair", "tool use"],
  ["edit hints", "file operations"],
  ["loop detection", "budgets"],
  ["compaction", "summarization"],
  ["retries", "durability"],
])("without %s fewer cases of %s are solved", async (feature, category) => {
  const after = solved(await run([category], { without: [feature] }), category);
  const before = solved(await wholeRun(), category);
  expect(after).toBeLessThan(before);
  const row = GUIDE.split("\n").find((line) => line.startsWith(`| ${feature} |`));
  expect(row, "the table of docs/evals.md").toContain(`${category} ${before} → ${after}`);
});

test("the table of the guide has the figures of Deepwright", async () => {
  const report = await wholeRun();
  for (const { category, cases } of BUILT_IN_SUITES)
    expect(GUIDE).toMatch(new RegExp(`^${category} +${solved(report, category)}/${cases.length} `, "m"));
  expect(GUIDE).toMatch(
    new RegExp(`^all +${report.records.length - UNSOLVED.length}/${report.records.length} `, "m"),
  );
});
