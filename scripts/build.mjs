// Makes publishable packages: bundled ESM and type declarations in each package's dist, without tests.
// With --no-types only what runs, which needs no TypeScript: for images.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureDevelopmentTools } from "./install.mjs";

const withTypes = !process.argv.includes("--no-types");
if (withTypes) await ensureDevelopmentTools();
const { bundle, PACKAGES } = await import("./bundle.mjs");
const { buildPage } = await import("./build-web.mjs");
for (const directory of PACKAGES) {
  const dist = join(directory, "dist");
  rmSync(dist, { recursive: true, force: true });
  await bundle(directory, dist);
  if (withTypes) declare(directory);
  const bin = join(dist, "main.js");
  if (existsSync(bin)) chmodSync(bin, 0o755);
  console.log(`built ${dist}`);
}
console.log(`built ${await buildPage()}`);

function declare(directory) {
  const tsc = join("node_modules", ".bin", "tsc");
  const project = join(directory, "tsconfig.build.json");
  const { status } = spawnSync(tsc, ["-p", project, "--emitDeclarationOnly"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
