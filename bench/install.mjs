/** Installs the peers into `bench/node_modules`. Uses nothing that is not part of Node. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "../scripts/install.mjs";

export const BENCH = dirname(fileURLToPath(import.meta.url));

/** `npm ci`, when there is no install yet or the lock file changed since the last one. */
export async function ensureBenchInstalled(log = (line) => process.stderr.write(`bench: ${line}\n`)) {
  await ensureInstalled(BENCH, "the peers into bench/node_modules", ["ci", "--ignore-scripts"], log);
}
