// Which tests `npm run test:quick` runs: those nearest to a change, along imports, that fit into a minute.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const BUDGET_SECONDS = 60;
const IMPORTED = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const isTest = (file) => file.endsWith(".test.ts");

/** Paths of test files, for the files and folders given or else for what git says has changed. */
export function nearestTests(paths, budgetSeconds = BUDGET_SECONDS) {
  const files = git("ls-files", "--cached", "--others", "--exclude-standard").filter((file) =>
    existsSync(file),
  );
  const changed =
    paths.length > 0 ? filesAt(paths, files) : changedFiles().filter((file) => files.includes(file));
  const sources = changed.filter((file) => /\.(ts|mjs)$/.test(file));
  const reached = testsByDistance(sources, importersOf(files));
  const times = JSON.parse(readFileSync("scripts/test-times.json", "utf8"));
  const chosen = [];
  let seconds = 0;
  for (const file of reached) {
    seconds += times[file] ?? 1;
    if (chosen.length > 0 && seconds > budgetSeconds && !sources.includes(file)) continue;
    chosen.push(file);
  }
  const left = reached.length - chosen.length;
  console.log(
    `${sources.length} changed source files reach ${reached.length} test files; running ${chosen.length}.`,
  );
  if (left > 0) console.log(`${left} that are further away or slow are left to \`npm test\`.`);
  return chosen;
}

function filesAt(paths, files) {
  return paths.flatMap((path) => {
    const name = path.replace(/^\.\//, "").replace(/\/$/, "");
    if (!existsSync(name)) throw new Error(`There is no file or folder ${path}.`);
    return statSync(name).isDirectory() ? files.filter((file) => file.startsWith(`${name}/`)) : [name];
  });
}

function changedFiles() {
  return [...git("diff", "--name-only", "HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
}

function git(...args) {
  const { stdout, status, stderr } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
  return stdout.split("\n").filter(Boolean);
}

/** File → files that import it by a relative path. */
function importersOf(files) {
  const importers = new Map();
  for (const file of files.filter((name) => /\.(ts|mjs)$/.test(name)))
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(IMPORTED)) {
      const target = join(dirname(file), specifier);
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  return importers;
}

/** Changed tests and tests of the same name first, then by the number of imports between. */
function testsByDistance(sources, importers) {
  const own = sources
    .map((file) => file.replace(/(?<!\.test)\.ts$/, ".test.ts"))
    .filter((file) => existsSync(file));
  const seen = new Set([...own, ...sources]);
  let layer = [...sources];
  const found = [...new Set(own)];
  while (layer.length > 0) {
    layer = layer
      .flatMap((file) => importers.get(file) ?? [])
      .filter((file) => !seen.has(file) && seen.add(file));
    found.push(...layer.filter(isTest));
  }
  return found;
}
