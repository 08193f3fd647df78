// Bundles the source files of one package, and only those: what it depends on stays an import. Loading
// an ES module costs more than running it, so a package of eighty files is published as a few.
import { join } from "node:path";
import { build } from "esbuild";

const ENTRIES = {
  "packages/core": [
    "index.ts",
    "browser.ts",
    "node.ts",
    "testing/index.ts",
    "errors.ts",
    "channel-values.ts",
    "secrets.ts",
  ],
  "packages/checkpoint": ["index.ts", "sqlite/index.ts", "sqlite/worker.ts", "postgres/index.ts"],
  "packages/cli": ["main.ts"],
};

export const PACKAGES = Object.keys(ENTRIES);

export async function bundle(directory, outdir, root = ".") {
  const source = join(root, directory, "src");
  await build({
    entryPoints: ENTRIES[directory].map((entry) => join(source, entry)),
    outbase: source,
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "node20.19",
    logLevel: "warning",
  });
}
