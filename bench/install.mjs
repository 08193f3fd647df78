/** Installs the peers into `bench/node_modules`. Uses nothing that is not part of Node. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const BENCH = dirname(fileURLToPath(import.meta.url));

/** `npm ci`, when there is no install yet or the lock file changed since the last one. */
export function ensureBenchInstalled(log = (line) => process.stderr.write(`bench: ${line}\n`)) {
  const stamp = join(BENCH, "node_modules", ".bench-lock");
  const lock = createHash("sha256")
    .update(readFileSync(join(BENCH, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  log("installing the peers into bench/node_modules (npm ci, about 30 s) …");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync("npm", args, { cwd: BENCH, stdio: ["ignore", 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ci in ${BENCH} ended with code ${status}.`);
  writeFileSync(stamp, lock);
}
