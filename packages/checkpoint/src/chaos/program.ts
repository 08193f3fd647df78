/** The worker as one plain program: starting it from source would cost a second each time. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SOURCE = fileURLToPath(new URL("..", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache", import.meta.url));

export interface WorkerProgram {
  /** To be removed by whoever asked for it. */
  readonly directory: string;
  readonly file: string;
}

/** Below `node_modules`, so that the packages it imports are found. */
export async function bundleWorker(): Promise<WorkerProgram> {
  mkdirSync(CACHE, { recursive: true });
  const directory = mkdtempSync(join(CACHE, "deepwright-chaos-"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  await build({
    entryPoints: ["chaos/worker.ts", "sqlite/worker.ts"].map((entry) => join(SOURCE, entry)),
    outbase: SOURCE,
    outdir: directory,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    conditions: ["source"],
    external: ["@langchain/*", "langchain", "zod", "pg", "@photostructure/sqlite"],
    format: "esm",
    platform: "node",
    target: "node20.19",
    logLevel: "warning",
  });
  return { directory, file: join(directory, "chaos", "worker.js") };
}
