/**
 * Mutation testing of the files that guard something: changes one condition at a time and runs the tests near it. A
 * change that no test notices is a survivor. `npm run test:mutations -- --help`.
 *
 * Files are changed in place and restored after each run, so it refuses to start when they have uncommitted changes.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { nearestTests } from "./test-nearest.mjs";

/** Guards, with tests that check them from further away than imports tell. */
const GUARDS: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("mutation-guards.json", import.meta.url), "utf8"),
);
const SURVIVORS = "docs/mutation-survivors.md";
const GOAL = 0.9;
/** Tests of one file take this long at most, by recorded times. */
const TESTS_SECONDS = 15;
const LONGEST_RUN_MS = 180_000;

const HELP = `npm run test:mutations -- [options]

  --file text     only guards whose path contains this (again for more)
  --sample N      at most N changes of each file, chosen by --seed (all: 0; default 12)
  --seed N        (default 1)
  --list          print the changes, run nothing`;

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true },
    sample: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    list: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const files = Object.keys(GUARDS).filter(
  (file) => values.file === undefined || values.file.some((text) => file.includes(text)),
);
if (files.length === 0) fail("No guard has such a path. See scripts/mutation-guards.json.");
const { stdout: changed } = spawnSync("git", ["status", "--porcelain", "--", ...files], { encoding: "utf8" });
if (changed !== "" && !values.list) fail(`Commit or put away these changes first:\n${changed}`);

let [noticed, explained, all] = [0, 0, 0];
const known = readFileSync(SURVIVORS, "utf8");
for (const file of files) {
  const source = readFileSync(file, "utf8");
  const mutations = sample(mutationsOf(source), Number(values.sample), Number(values.seed));
  if (values.list) {
    for (const mutation of mutations) console.log(describe(file, mutation));
    continue;
  }
  const tests = [...new Set([...nearestTests([file], TESTS_SECONDS), ...(GUARDS[file] ?? [])])];
  console.log(`\n${file}: ${mutations.length} changes, ${tests.length} test files`);
  if (mutations.length > 0 && isNoticed(tests)) fail(`The tests of ${file} fail without a change.`);
  for (const mutation of mutations) {
    all += 1;
    const found = tried(file, source, mutation, tests);
    const isKnown = known.includes(`\`${mutation.line.trim()}\` → ${mutation.what}`);
    if (found) noticed += 1;
    else if (isKnown) explained += 1;
    if (!found) console.log(`  ${isKnown ? "known survivor" : "SURVIVED"} ${describe(file, mutation)}`);
  }
}
if (!values.list) {
  const share = all === 0 ? 1 : (noticed + explained) / all;
  console.log(`\n${noticed} of ${all} changes noticed, ${explained} survivors with a reason in ${SURVIVORS}`);
  process.exit(share >= GOAL ? 0 : 1);
}

/** Whether a test fails, or does not end, with the change in place. */
function tried(
  file: string,
  source: string,
  { start, end, text }: Mutation,
  tests: readonly string[],
): boolean {
  const restore = (): void => writeFileSync(file, source);
  process.once("exit", restore);
  try {
    writeFileSync(file, source.slice(0, start) + text + source.slice(end));
    return isNoticed(tests);
  } finally {
    restore();
    process.off("exit", restore);
  }
}

function isNoticed(tests: readonly string[]): boolean {
  const args = ["run", "--bail=1", "--reporter=dot", ...tests];
  const { status, signal } = spawnSync("node_modules/.bin/vitest", args, {
    stdio: "ignore",
    timeout: LONGEST_RUN_MS,
    killSignal: "SIGKILL",
  });
  if (signal === "SIGINT") process.exit(130);
  return status !== 0;
}

/** The same choice for the same seed: each item is ranked by a hash of its place. */
function sample(mutations: Mutation[], count: number, seed: number): Mutation[] {
  if (count === 0 || mutations.length <= count) return mutations;
  const rank = ({ start }: Mutation): number =>
    Math.imul(Math.imul(start + 1, 2654435761) ^ Math.imul(seed, 40503), 2246822519) >>> 0;
  const chosen = new Set(mutations.toSorted((a, b) => rank(a) - rank(b)).slice(0, count));
  return mutations.filter((mutation) => chosen.has(mutation));
}

function describe(file: string, { lineNumber, line, what }: Mutation): string {
  return `${file}:${lineNumber} \`${line.trim()}\` → ${what}`;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
