// The steps of the test command, once everything is installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nearestTests } from "./test-nearest.mjs";

const bin = (name) => join("node_modules", ".bin", name);

/** Returns the exit code. `form` is "all", "quick" or "long". */
export async function runSteps(form, paths) {
  let failed = 0;
  const step = (title, command, args, env = {}) => {
    console.log(`\n== ${title}`);
    const started = performance.now();
    const { status, error } = spawnSync(command, args, {
      stdio: "inherit",
      env: { ...process.env, ...env },
    });
    if (error) throw error;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`== ${title}: ${status === 0 ? "ok" : "FAILED"} (${seconds} s)`);
    if (status !== 0) failed += 1;
  };
  const filters = form === "quick" ? nearestTests(paths) : paths;
  if (form === "quick" || paths.length === 0) {
    step("lint and layers", bin("biome"), ["check", "."]);
    step("comments", process.execPath, ["scripts/comment-words.mjs"]);
    step("types", bin("tsc"), ["-p", "tsconfig.json"]);
  }
  let counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };
  if (form !== "quick" || filters.length > 0) {
    const scratch = mkdtempSync(join(tmpdir(), "deepwright-test-"));
    const report = join(scratch, "vitest.json");
    const reporters = [
      "--reporter=./scripts/test-reporter.ts",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ];
    try {
      step(
        "tests",
        bin("vitest"),
        ["run", ...reporters, ...filters],
        form === "long" ? { TEST_LONG: "1" } : {},
      );
      counts = JSON.parse(readFileSync(report, "utf8"));
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  if (form === "long" && paths.length === 0) step("chaos", process.execPath, ["scripts/chaos.mjs"]);
  const { numPassedTests, numFailedTests, numPendingTests } = counts;
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed${skipped}`);
  return failed === 0 ? 0 : 1;
}
