// What runs in a thread while it is TypeScript, which threads of Node 20 cannot load: bundled, and kept until
// a source changes. Not published.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const ERRORS = fileURLToPath(new URL("../../../core/src/errors.ts", import.meta.url));
const AN_HOUR = 3_600_000;

/** The bundle of `entry`, a URL, as a file; `directories` are the URLs of all sources it may have. */
export async function bundleSource(name, entry, directories) {
  const sources = [ERRORS, ...directories.flatMap(filesIn)];
  const newest = Math.max(...sources.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
  const bundle = join(CACHE, `${name}-${Math.floor(newest)}-${sources.length}.mjs`);
  if (!existsSync(bundle)) await build(name, fileURLToPath(entry), bundle);
  return bundle;
}

function filesIn(directory) {
  const path = fileURLToPath(directory);
  const files = readdirSync(path, { recursive: true }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  return files.map((name) => join(path, name));
}

async function build(name, entry, bundle) {
  const { buildSync } = await import("esbuild");
  mkdirSync(CACHE, { recursive: true });
  const unfinished = join(CACHE, `${name}-${process.pid}-${threadId}-${Date.now()}.mjs`);
  buildSync({
    entryPoints: [entry],
    outfile: unfinished,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["source"],
    external: ["@photostructure/sqlite", "pg", "@langchain/*"],
    sourcemap: "inline",
    logLevel: "warning",
  });
  renameSync(unfinished, bundle);
  for (const old of readdirSync(CACHE).filter((file) => file.startsWith(`${name}-`))) {
    const age = Date.now() - (statSync(join(CACHE, old), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > AN_HOUR) rmSync(join(CACHE, old), { force: true });
  }
}
