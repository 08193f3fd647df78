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
  for (const name of ["core", "checkpoint", "sandboxes", "protocol", "server", "cli"])
    await install(`packages/${name}`, join(BENCH, "node_modules"), ROOT);
  log(`built our packages in ${Date.now() - started} ms`);
}
