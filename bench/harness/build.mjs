/** Builds our packages into `bench/node_modules`, where a user would have them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundle } from "../../scripts/bundle.mjs";
import { BENCH } from "../install.mjs";

const ROOT = resolve(BENCH, "..");

/**
 * Bundles our packages as they are published, once for all rounds. Every import of LangChain resolves to
 * the copy the other contenders use.
 */
export async function buildOurs(log) {
  const started = Date.now();
  for (const directory of ["packages/core", "packages/checkpoint"]) await buildPackage(directory);
  log(`built deepwright and @deepwright/checkpoint in ${Date.now() - started} ms`);
}

async function buildPackage(directory) {
  const manifest = JSON.parse(readFileSync(join(ROOT, directory, "package.json"), "utf8"));
  const { name, version, type, sideEffects, exports } = manifest;
  const target = join(BENCH, "node_modules", ...name.split("/"));
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await bundle(directory, join(target, "dist"), ROOT);
  const built = { name, version, type, sideEffects, exports: builtOnly(exports) };
  writeFileSync(join(target, "package.json"), JSON.stringify(built));
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
