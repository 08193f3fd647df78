/**
 * Mutation testing of the files that guard something: changes one condition at a time and runs the tests that check the
 * file. A change that no test notices is a survivor. `npm run test:mutations -- --help`.
 *
 * Files are changed in place and restored after each run, so it refuses to start when they have uncommitted changes.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Mutation, mutationsOf } from "./mutations.ts";

/** Group → guard → its tests. The first of them runs alone, so it should be fast and notice most changes. */
const GUARDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = JSON.parse(
  readFileSync(new URL("mutation-guards.json", import.meta.url), "utf8"),
);
const SURVIVORS = "docs/mutation-survivors.md";
const GOAL = 0.9;
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

interface Guard {
  readonly group: string;
  readonly file: string;
  readonly tests: readonly string[];
}
const guards: readonly Guard[] = Object.entries(GUARDS)
  .flatMap(([group, files]) => Object.entries(files).map(([file, tests]) => ({ group, file, tests })))
  .filter(({ file }) => values.file === undefined || values.file.some((text) => file.includes(text)));
if (guards.length === 0) fail("No guard has such a path. See scripts/mutation-guards.json.");
const { stdout: changed } = spawnSync(
  "git",
  ["status", "--porcelain", "--", ...guards.map(({ file }) => file)],
  {
    encoding: "utf8",
  },
);
if (changed !== "" && !values.list) fail(`Commit or put away these changes first:\n${changed}`);

/** Sources after the transform, by a hash of their text: most are the same in every run. */
const transformed = mkdtempSync(join(tmpdir(), "mutations-"));
let restore = (): void => {};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  restore();
  rmSync(transformed, { recursive: true, force: true });
});

const known = readFileSync(SURVIVORS, "utf8");
const rows: string[] = [];
let [noticed, survived, unexplained] = [0, 0, 0];
for (const guard of guards) {
  const source = readFileSync(guard.file, "utf8");
  const mutations = sample(mutationsOf(source), Number(values.sample), Number(values.seed));
  if (values.list) for (const mutation of mutations) console.log(describe(guard.file, mutation));
  else await tryAll(guard, source, mutations);
}
if (!values.list) {
  console.log(`\n| guard | changes | noticed |\n|---|---|---|\n${rows.join("\n")}`);
  console.log(
    `\n${noticed} of ${noticed + survived} changes noticed (sample ${values.sample}, seed ${values.seed}).`,
  );
  console.log(`${unexplained} survivors have no reason in ${SURVIVORS}.`);
  process.exit(unexplained === 0 && noticed >= GOAL * (noticed + survived) ? 0 : 1);
}

async function tryAll({ group, file, tests }: Guard, source: string, mutations: Mutation[]): Promise<void> {
  console.log(`\n${group}: ${file}, ${mutations.length} changes, ${tests.length} test files`);
  if (mutations.length > 0 && (await isNoticed(tests))) fail(`The tests of ${file} fail without a change.`);
  let found = 0;
  restore = () => writeFileSync(file, source);
  for (const mutation of mutations) {
    const { start, end, text } = mutation;
    writeFileSync(file, source.slice(0, start) + text + source.slice(end));
    const isFound = await isNoticed(tests);
    restore();
    found += Number(isFound);
    if (isFound) continue;
    const isKnown = known.includes(`\`${mutation.line.trim()}\` → ${mutation.what}`);
    unexplained += Number(!isKnown);
    console.log(`  ${isKnown ? "known survivor" : "SURVIVED"} ${describe(file, mutation)}`);
  }
  restore = () => {};
  noticed += found;
  survived += mutations.length - found;
  rows.push(`| \`${file}\` | ${mutations.length} | ${found} |`);
}

/** Whether a test fails or does not end. */
async function isNoticed([first, ...others]: readonly string[]): Promise<boolean> {
  for (const tests of [[first as string], others]) if (tests.length > 0 && !(await pass(tests))) return true;
  return false;
}

/** Workers that hang in a loop outlive their parent, so the whole process group is ended. */
async function pass(tests: readonly string[]): Promise<boolean> {
  const cache = ["--experimental.fsModuleCache", `--experimental.fsModuleCachePath=${transformed}`];
  const args = ["run", "--bail=1", "--reporter=dot", ...cache, ...tests];
  const child = spawn("node_modules/.bin/vitest", args, { stdio: "ignore", detached: true });
  const end = (): void => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {}
  };
  const timer = setTimeout(end, LONGEST_RUN_MS);
  process.once("exit", end);
  const [status] = await once(child, "exit");
  clearTimeout(timer);
  process.off("exit", end);
  end();
  return status === 0;
}

/** The same choice for the same seed: each change is ranked by a hash of its index. */
function sample(mutations: Mutation[], count: number, seed: number): Mutation[] {
  if (count === 0 || mutations.length <= count) return mutations;
  const rank = (index: number): number =>
    Math.imul(Math.imul(index + 1, 2654435761) ^ Math.imul(seed, 40503), 2246822519) >>> 0;
  const order = mutations.map((_, index) => index).toSorted((a, b) => rank(a) - rank(b));
  const chosen = new Set(order.slice(0, count));
  return mutations.filter((_, index) => chosen.has(index));
}

function describe(file: string, { lineNumber, line, what }: Mutation): string {
  return `${file}:${lineNumber} \`${line.trim()}\` → ${what}`;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
