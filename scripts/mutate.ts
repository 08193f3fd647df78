/**
 * Mutation testing of the files that guard something: changes one condition at a time and runs the tests that check the
 * file. A change that no test notices is a survivor. `npm run test:mutations -- --help`.
 *
 * All changes are written into the files at once, each behind a switch, and taken out at the end. So it refuses to start
 * when a file has uncommitted changes. The tests get a directory for temporary files of their own.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type Mutation, mutationsOf, withSwitches } from "./mutations.ts";

/** Group → guard → its tests. They stop at the first failure, so a fast one that notices most changes comes first. */
const GUARDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = JSON.parse(
  readFileSync(new URL("mutation-guards.json", import.meta.url), "utf8"),
);
const SURVIVORS = "docs/mutation-survivors.md";
const GOAL = 0.9;
/** A changed test run hangs when it takes longer than this and ten times as long as without a change. */
const LONGEST_RUN_MS = 60_000;
const LONGEST_START_MS = 600_000;

const HELP = `npm run test:mutations -- [options]

  --file text     only guards whose path contains this (again for more)
  --group text    only groups of guards whose name contains this
  --sample N      at most N changes of each file, chosen by --seed (all: 0; default 12)
  --seed N        (default 1)
  --at-once N     guards tested at the same time (default 1)
  --save file     write the survivors to this JSON file
  --again file    only the changes in this JSON file
  --list          print the changes, run nothing`;

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true },
    group: { type: "string", default: "" },
    sample: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    "at-once": { type: "string", default: "1" },
    save: { type: "string" },
    again: { type: "string" },
    list: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

interface Guard {
  readonly file: string;
  readonly tests: readonly string[];
  readonly source: string;
  readonly mutations: readonly Mutation[];
}
const again: readonly string[] | undefined = values.again && JSON.parse(readFileSync(values.again, "utf8"));
const guards: readonly Guard[] = Object.entries(GUARDS)
  .filter(([group]) => group.includes(values.group))
  .flatMap(([, files]) => Object.entries(files))
  .filter(([file]) => values.file === undefined || values.file.some((text) => file.includes(text)))
  .map(([file, tests]) => {
    const source = readFileSync(file, "utf8");
    const all = mutationsOf(source);
    const mutations = again
      ? all.filter((mutation) => again.includes(key(file, mutation)))
      : sample(all, Number(values.sample), Number(values.seed));
    return { file, tests, source, mutations };
  })
  .filter(({ mutations }) => mutations.length > 0);
if (guards.length === 0) fail("No guard has such changes. See scripts/mutation-guards.json.");
if (values.list) {
  const lines = guards.flatMap(({ file, mutations }) => mutations.map((one) => `${describe(file, one)}\n`));
  await new Promise((written) => process.stdout.write(lines.join(""), written));
  process.exit(0);
}
const files = guards.map(({ file }) => file);
const { stdout: changed } = spawnSync("git", ["status", "--porcelain", "--", ...files], { encoding: "utf8" });
if (changed !== "") fail(`Commit or put away these changes first:\n${changed}`);

/** Holds temporary files of the tests and sources after the transform, by a hash of their text. */
const directory = mkdtempSync(join(tmpdir(), "mutations-"));
// Postgres runs as another user.
chmodSync(directory, 0o755);
const endings = new Set<() => void>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.once("exit", () => {
  for (const { file, source } of guards) writeFileSync(file, source);
  for (const end of endings) end();
  rmSync(directory, { recursive: true, force: true });
});
for (const { file, source, mutations } of guards) writeFileSync(file, withSwitches(source, mutations, file));

const known = readFileSync(SURVIVORS, "utf8");
const survivors: string[] = [];
const broken: string[] = [];
let [tried, unexplained] = [0, 0];
const waiting = guards.values();
await Promise.all(
  Array.from({ length: Number(values["at-once"]) }, async () => {
    for (const guard of waiting) await tryAll(guard);
  }),
);
const noticed = tried - survivors.length;
console.log(
  `\n${noticed} of ${tried} changes noticed (${again ? values.again : `sample ${values.sample}, seed ${values.seed}`}).`,
);
console.log(`${unexplained} survivors have no reason in ${SURVIVORS}.`);
if (broken.length > 0) fail(`Not tried, because their tests fail: ${broken.join(", ")}`);
process.exit(unexplained === 0 && noticed >= GOAL * tried ? 0 : 1);

async function tryAll({ file, tests, mutations }: Guard): Promise<void> {
  const begin = performance.now();
  const lines: string[] = [];
  const names = ["", ...mutations.map((_, index) => `${file}#${index}`)];
  const passed = await passes(tests, names);
  if (!passed[0]) {
    broken.push(file);
    return console.error(`The tests of ${file} fail without a change.`);
  }
  for (const [index, mutation] of mutations.entries()) {
    if (!passed[index + 1]) continue;
    survivors.push(key(file, mutation));
    const isKnown = known.includes(`\`${mutation.line.trim()}\` → ${mutation.what}`);
    unexplained += Number(!isKnown);
    lines.push(`  ${isKnown ? "known survivor" : "SURVIVED"} ${describe(file, mutation)}`);
  }
  tried += mutations.length;
  const seconds = ((performance.now() - begin) / 1000).toFixed();
  console.log(`${file}: ${mutations.length - lines.length} of ${mutations.length} noticed, ${seconds} s`);
  if (lines.length > 0) console.log(lines.join("\n"));
  if (values.save) writeFileSync(values.save, JSON.stringify(survivors, undefined, 1));
}

/** Whether the tests pass with each of the mutations. A run that hangs or ends vitest does not, and the next starts anew. */
async function passes(tests: readonly string[], names: readonly string[]): Promise<boolean[]> {
  const passed: boolean[] = [];
  const longest = { ms: LONGEST_START_MS / 10 };
  while (passed.length < names.length) {
    passed.push(...(await passesUntilOneHangs(tests, names.slice(passed.length), longest)));
    if (passed.length < names.length) passed.push(false);
  }
  return passed;
}

/** `longest` is how long the tests take without a change, once that is known. */
async function passesUntilOneHangs(
  tests: readonly string[],
  names: readonly string[],
  longest: { ms: number },
): Promise<boolean[]> {
  const task = JSON.stringify({ tests, names, transformed: join(directory, "transformed") });
  const child = spawn(process.execPath, ["--import", "tsx", "scripts/mutation-runs.ts", task], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, TMPDIR: directory },
    detached: true,
  });
  // Workers that hang in a loop outlive their parent, so the whole process group is ended.
  const end = (): void => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {}
  };
  endings.add(end);
  const exited = once(child, "exit");
  const passed: boolean[] = [];
  const mostMs = (): number => Math.max(LONGEST_RUN_MS, 10 * longest.ms);
  let timer = setTimeout(end, mostMs());
  for await (const line of createInterface(child.stdout)) {
    const run: { passed: boolean; ms: number } = JSON.parse(line);
    if (names[passed.length] === "") longest.ms = run.ms;
    passed.push(run.passed);
    clearTimeout(timer);
    timer = setTimeout(end, mostMs());
  }
  clearTimeout(timer);
  await exited;
  end();
  endings.delete(end);
  return passed;
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

/** Finds a change again when lines above it were added. */
function key(file: string, { line, what }: Mutation): string {
  return `${file} \`${line.trim()}\` → ${what}`;
}

function describe(file: string, { lineNumber, column, line, what }: Mutation): string {
  return `${file}:${lineNumber}:${column} \`${line.trim()}\` → ${what}`;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
