/**
 * `node bench/profile.mjs MEASUREMENT [CONTENDER]`: where the CPU of one measurement goes. Prints self
 * time by package and the functions that take most, and leaves the .cpuprofile for a browser.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claimBench } from "./harness/alone.mjs";
import { buildOurs } from "./harness/build.mjs";
import { plan } from "./harness/plan.mjs";
import { BENCH, ensureBenchInstalled } from "./install.mjs";

const FUNCTIONS = 40;
const bundles = new Map();
const [id, contender = "deepwright"] = process.argv.slice(2);
const measurement = plan().find((candidate) => candidate.id === id);
if (measurement === undefined) {
  process.stderr.write(
    `Which one? ${plan()
      .map((candidate) => candidate.id)
      .join(", ")}\n`,
  );
  process.exit(2);
}
const log = (line) => process.stderr.write(`bench: ${line}\n`);
await ensureBenchInstalled(log);
claimBench();
await buildOurs(log);
print(readProfile(run(measurement)));

function run({ workload, params }) {
  const folder = mkdtempSync(join(tmpdir(), "deepwright-profile-"));
  const job = JSON.stringify({ workload, contender, params });
  const flags = ["--expose-gc", "--cpu-prof", "--cpu-prof-interval=200", `--cpu-prof-dir=${folder}`];
  const { status } = spawnSync(process.execPath, [...flags, join(BENCH, "measure.mjs"), job], {
    cwd: BENCH,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`The measurement ended with code ${status}.`);
  const file = join(folder, readdirSync(folder)[0]);
  log(`wrote ${file}`);
  return file;
}

/** Self milliseconds by package and by function. */
function readProfile(file) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const packages = new Map();
  const functions = new Map();
  const add = (map, key, ms) => map.set(key, (map.get(key) ?? 0) + ms);
  for (const [i, sample] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(sample).callFrame;
    if (functionName === "(idle)") continue;
    const place = url.replace(/^file:\/\/.*?\/bench\/(node_modules\/)?/, "");
    add(packages, packageOf(place, functionName), timeDeltas[i] / 1000);
    const where = place.startsWith("deepwright/") ? sourceOf(url, lineNumber) : `${place}:${lineNumber + 1}`;
    add(functions, `${functionName || "(anonymous)"}  ${where}`, timeDeltas[i] / 1000);
  }
  return { packages, functions };
}

/** The source file a line of our bundle comes from: the bundler writes its name above what it took. */
function sourceOf(url, lineNumber) {
  if (!bundles.has(url)) bundles.set(url, readFileSync(new URL(url), "utf8").split("\n"));
  const lines = bundles.get(url);
  let at = lineNumber;
  while (at > 0 && !/^\/\/ \S+\.ts$/.test(lines[at])) at -= 1;
  return lines[at].slice(3) || `${url}:${lineNumber + 1}`;
}

function packageOf(place, functionName) {
  if (place === "" || functionName.startsWith("(")) return functionName.startsWith("(") ? functionName : "v8";
  if (place.startsWith("node:")) return place.split("/").slice(0, 2).join("/");
  return place.startsWith("@") ? place.split("/").slice(0, 2).join("/") : place.split("/")[0];
}

function print({ packages, functions }) {
  const total = [...packages.values()].reduce((sum, ms) => sum + ms, 0);
  for (const [title, map, count] of [
    ["by package", packages, 20],
    ["by function", functions, FUNCTIONS],
  ]) {
    console.log(`\n${title} (of ${total.toFixed(0)} ms)`);
    const sorted = [...map].sort((a, b) => b[1] - a[1]).slice(0, count);
    for (const [name, ms] of sorted)
      console.log(
        `${((100 * ms) / total).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`,
      );
  }
}
