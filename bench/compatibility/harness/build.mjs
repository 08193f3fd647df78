/** Bundles the programs once for each library, and checks their types against each. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { BENCH } from "../../install.mjs";

const ROOT = resolve(BENCH, "..");
const PROGRAMS = join(BENCH, "compatibility", "programs");
const TYPES = join(BENCH, ".types", "compatibility");

export const LIBRARIES = ["deepagents", "deepwright"];

/** Replaces the import of `library` and leaves all packages to Node. Returns the folder of each library. */
export async function buildPrograms(names) {
  const folders = {};
  for (const library of LIBRARIES) {
    const outdir = join(BENCH, ".build", "compatibility", library);
    rmSync(outdir, { recursive: true, force: true });
    await build({
      entryPoints: names.map((name) => join(PROGRAMS, `${name}.ts`)),
      outbase: PROGRAMS,
      outdir,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      packages: "external",
      alias: { library },
      format: "esm",
      platform: "node",
      target: "node20.19",
      logLevel: "warning",
    });
    folders[library] = outdir;
  }
  return folders;
}

/** Errors of the type checker, by library and program: `{ deepagents: { "agent/x": ["…"] } }`. */
export async function typeErrors() {
  const declarations = join(TYPES, "deepwright");
  await tsc(["-p", "packages/core/tsconfig.build.json", "--emitDeclarationOnly", "--outDir", declarations]);
  const entry = { deepagents: join(BENCH, "node_modules", "deepagents", "dist"), deepwright: declarations };
  const found = {};
  for (const library of LIBRARIES) found[library] = await check(library, entry[library]);
  return found;
}

async function check(library, folder) {
  const project = join(TYPES, `tsconfig.${library}.json`);
  const compilerOptions = {
    noEmit: true,
    customConditions: [],
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    paths: { library: [join(folder, "index.d.ts")], "library/*": [join(folder, "*.d.ts")] },
  };
  mkdirSync(TYPES, { recursive: true });
  const include = [join(BENCH, "compatibility", "programs", "**", "*.ts")];
  writeFileSync(project, JSON.stringify({ extends: join(ROOT, "tsconfig.json"), compilerOptions, include }));
  const output = await tsc(["-p", project, "--pretty", "false"]);
  const errors = {};
  for (const line of output.split("\n")) {
    const match = /compatibility\/(?:programs\/)?(.+)\.ts\((\d+),\d+\): (error TS\d+: .*)$/.exec(line);
    if (!match) continue;
    errors[match[1]] ??= [];
    errors[match[1]].push(`line ${match[2]}: ${match[3]}`);
  }
  return errors;
}

async function tsc(args) {
  const child = spawn(join(ROOT, "node_modules", ".bin", "tsc"), args, { cwd: ROOT });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  await new Promise((done, failed) => child.on("close", done).on("error", failed));
  return output;
}
