// The steps of the test command, once everything is installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nearestTests } from "./test-nearest.mjs";

const bin = (name) => join("node_modules", ".bin", name);

/** More failed files than this are not repeated: something is broken. */
const REPEATED_FILES = 3;

/** Returns the exit code. `form` is "all", "quick" or "long". */
export async function runSteps(form, paths) {
  let failed = 0;
  const step = (title, command, args, env = {}) => {
    if (!runStep(title, command, args, env)) failed += 1;
  };
  const filters = form === "quick" ? nearestTests(paths) : paths;
  if (form === "quick" || paths.length === 0) {
    step("lint and layers", bin("biome"), ["check", "."]);
    step("comments", process.execPath, ["scripts/comment-words.mjs"]);
    step("types", bin("tsc"), ["-p", "tsconfig.json"]);
  }
  let counts = { passed: 0, failed: 0, skipped: 0 };
  if (form !== "quick" || filters.length > 0) {
    counts = runTests(filters, form);
    if (!counts.isGreen) failed += 1;
  }
  if (form === "long" && paths.length === 0) step("chaos", process.execPath, ["scripts/chaos.mjs"]);
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  console.log(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
  return failed === 0 ? 0 : 1;
}

function runStep(title, command, args, env = {}) {
  console.log(`\n== ${title}`);
  const started = performance.now();
  const { status, error } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (error) throw error;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`== ${title}: ${status === 0 ? "ok" : "FAILED"} (${seconds} s)`);
  return status === 0;
}

/**
 * Runs the tests. When very few of all files fail, these files run once more with the machine to themselves: a test
 * that passes then is named as unstable, and one that fails twice has failed.
 */
function runTests(filters, form) {
  const env = form === "long" ? { TEST_LONG: "1" } : {};
  const first = runVitest("tests", filters, env);
  const { failedFiles } = first;
  const isWorthRepeating =
    filters.length === 0 &&
    first.errors === 0 &&
    failedFiles.length > 0 &&
    failedFiles.length <= REPEATED_FILES;
  if (!isWorthRepeating) return first;
  const title = "failed files, once more by themselves";
  const again = runVitest(title, failedFiles, { ...env, TEST_RECORD_TIMES: "" });
  if (!again.isGreen) return { ...first, failed: Math.max(1, again.failed) };
  console.log("\nUnstable, passed only when repeated:");
  for (const name of first.failedTests) console.log(`  ${name}`);
  return { ...first, isGreen: true, passed: first.passed + first.failed, failed: 0 };
}

function runVitest(title, filters, env) {
  const scratch = mkdtempSync(join(tmpdir(), "deepwright-test-"));
  const report = join(scratch, "report.json");
  try {
    const args = ["run", "--reporter=./scripts/test-reporter.ts", ...filters];
    const isGreen = runStep(title, bin("vitest"), args, { ...env, TEST_REPORT: report });
    return { ...JSON.parse(readFileSync(report, "utf8")), isGreen };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
