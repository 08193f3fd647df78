/** Programs that are started again and again, bundled: starting them from source would cost a second each time. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { isVendored, vendored } from "../../../../scripts/vendored.mjs";

const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache", import.meta.url));

/** Packages of others are loaded from where they are, but for those that a bundle makes faster to load. */
const OTHERS: Plugin = {
  name: "others",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
      isVendored(path) || /^(@deepwright\/|deepwright($|\/))/.test(path)
        ? undefined
        : { path, external: true },
    ),
};

/** Runs in a thread of every program that opens an SQLite file. */
export const SQLITE_WORKER = new URL("../sqlite/worker.ts", import.meta.url);

export interface WorkerProgram {
  /** To be removed by whoever asked for it. */
  readonly directory: string;
  readonly file: string;
}

/** The process that runs agents on a database. */
export function bundleWorker(): Promise<WorkerProgram> {
  return bundleProgram({
    "chaos/worker": new URL("./worker.ts", import.meta.url),
    "sqlite/worker": SQLITE_WORKER,
  });
}

/** Sources by the names they are given; the first is the program. Below `node_modules`, so that packages are found. */
export async function bundleProgram(sources: Readonly<Record<string, URL>>): Promise<WorkerProgram> {
  mkdirSync(CACHE, { recursive: true });
  const directory = mkdtempSync(join(CACHE, "deepwright-chaos-"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  await build({
    entryPoints: Object.entries(sources).map(([out, source]) => ({ in: fileURLToPath(source), out })),
    outdir: directory,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    conditions: ["source"],
    plugins: [vendored, OTHERS],
    format: "esm",
    platform: "node",
    target: "node20.19",
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
  });
  return { directory, file: join(directory, `${Object.keys(sources)[0]}.js`) };
}
