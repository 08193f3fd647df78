/** Builds our library into `bench/node_modules/deepwright`, where a user would have it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { BENCH } from "../install.mjs";

const CORE = resolve(BENCH, "../packages/core");
const TARGET = join(BENCH, "node_modules", "deepwright");

/**
 * Transpiles `packages/core` file by file, as the published package is, and does so once for all
 * rounds. Every import of LangChain resolves to the copy the other contenders use.
 */
export async function buildCore(log) {
  const started = Date.now();
  const esbuild = await import("esbuild");
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  await esbuild.build({
    entryPoints: sourcesIn(join(CORE, "src")),
    outbase: join(CORE, "src"),
    outdir: join(TARGET, "dist"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
    plugins: [keepFiles],
  });
  const manifest = JSON.parse(readFileSync(join(CORE, "package.json"), "utf8"));
  const { name, version, type, sideEffects, exports } = manifest;
  const built = { name, version, type, sideEffects, exports: builtOnly(exports) };
  writeFileSync(join(TARGET, "package.json"), JSON.stringify(built));
  log(`built packages/core in ${Date.now() - started} ms`);
}

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /(?<!\.test|\.d)\.ts$/.test(file.name))
    .map((file) => join(file.parentPath, file.name));
}

/** Nothing is bundled: a relative import only changes its ending. */
const keepFiles = {
  name: "keep-files",
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "entry-point" ? undefined : { path: path.replace(/^(\..*)\.ts$/, "$1.js"), external: true },
    );
  },
};

/** The exports without the conditions that point at files the bench does not build. */
function builtOnly(exports) {
  if (typeof exports !== "object") return exports;
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([condition]) => condition !== "source" && condition !== "types")
      .map(([condition, target]) => [condition, builtOnly(target)]),
  );
}
