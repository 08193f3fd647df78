/** Builds our library into `bench/node_modules/deepwright`, where a user would have it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundle } from "../../scripts/bundle.mjs";
import { BENCH } from "../install.mjs";

const CORE = resolve(BENCH, "../packages/core");
const TARGET = join(BENCH, "node_modules", "deepwright");

/**
 * Bundles `packages/core` as the published package is, once for all rounds. Every import of LangChain
 * resolves to the copy the other contenders use.
 */
export async function buildCore(log) {
  const started = Date.now();
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  await bundle("packages/core", join(TARGET, "dist"), resolve(BENCH, ".."));
  const manifest = JSON.parse(readFileSync(join(CORE, "package.json"), "utf8"));
  const { name, version, type, sideEffects, exports } = manifest;
  const built = { name, version, type, sideEffects, exports: builtOnly(exports) };
  writeFileSync(join(TARGET, "package.json"), JSON.stringify(built));
  log(`built packages/core in ${Date.now() - started} ms`);
}

/** The exports without the conditions that point at files the bench does not build. */
function builtOnly(exports) {
  if (typeof exports !== "object") return exports;
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([condition]) => condition !== "source" && condition !== "types")
      .map(([condition, target]) => [condition, builtOnly(target)]),
  );
}
