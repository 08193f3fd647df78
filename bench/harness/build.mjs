/** Builds our packages into `bench/node_modules`, where a user would have them. */
import { join, resolve } from "node:path";
import { install } from "../../scripts/bundle.mjs";
import { BENCH } from "../install.mjs";

const ROOT = resolve(BENCH, "..");

/**
 * Bundles our packages as they are published, once for all rounds. Every import of LangChain resolves to
 * the copy the other contenders use.
 */
export async function buildOurs(log) {
  const started = Date.now();
  for (const directory of ["packages/core", "packages/checkpoint", "packages/sandboxes"])
    await install(directory, join(BENCH, "node_modules"), ROOT);
  log(`built deepwright, @deepwright/checkpoint and @deepwright/sandboxes in ${Date.now() - started} ms`);
}
