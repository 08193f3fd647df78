// Runs everything that must hold: lint, types, tests. One command, from a fresh clone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBenchInstalled } from "../bench/install.mjs";
import { findPostgres } from "./test-postgres.mjs";
import { ensureSystemPrograms } from "./test-system.mjs";

const bin = (name) => join("node_modules", ".bin", name);
const scratch = mkdtempSync(join(tmpdir(), "deepwright-test-"));
const report = join(scratch, "vitest.json");
const filters = process.argv.slice(2);
let failed = 0;

function step(title, command, args) {
  console.log(`\n== ${title}`);
  const started = performance.now();
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error) throw error;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`== ${title}: ${status === 0 ? "ok" : "FAILED"} (${seconds} s)`);
  if (status !== 0) failed += 1;
}

try {
  ensureSystemPrograms();
  findPostgres();
  ensureBenchInstalled();
  if (filters.length === 0) {
    step("lint and layers", bin("biome"), ["check", "."]);
    step("types", bin("tsc"), ["-p", "tsconfig.json"]);
  }
  step("tests", bin("vitest"), [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...filters,
  ]);
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8"));
  console.log(
    `\n${numPassedTests} passed, ${numFailedTests} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""}`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
