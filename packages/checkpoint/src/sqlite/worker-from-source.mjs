// The worker while it is TypeScript, which threads of Node 20 cannot load: bundled, and kept until a source
// changes. Not published.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";

const SOURCE = fileURLToPath(new URL("..", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const ERRORS = fileURLToPath(new URL("../../../core/src/errors.ts", import.meta.url));
const AN_HOUR = 3_600_000;

const files = readdirSync(SOURCE, { recursive: true }).filter((name) => /(?<!\.test)\.ts$/.test(name));
const sources = [ERRORS, ...files.map((name) => join(SOURCE, name))];
const newest = Math.max(...sources.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
const bundle = join(CACHE, `worker-${Math.floor(newest)}-${sources.length}.mjs`);

if (!existsSync(bundle)) {
  const { buildSync } = await import("esbuild");
  const unfinished = join(CACHE, `worker-${process.pid}-${threadId}-${Date.now()}.mjs`);
  buildSync({
    entryPoints: [fileURLToPath(new URL("./worker.ts", import.meta.url))],
    outfile: unfinished,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["source"],
    external: ["@photostructure/sqlite", "@langchain/*"],
    sourcemap: "inline",
    logLevel: "warning",
  });
  renameSync(unfinished, bundle);
  for (const name of readdirSync(CACHE).filter((file) => file.startsWith("worker-"))) {
    const age = Date.now() - (statSync(join(CACHE, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > AN_HOUR) rmSync(join(CACHE, name), { force: true });
  }
}
await import(bundle);
