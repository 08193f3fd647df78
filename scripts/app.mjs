// Builds the page and serves it with the CLI's own agent: on a model whose key is set, else on the offline model.
// Arguments are those of `deepwright serve`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuildTools } from "./install.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
await ensureBuildTools();
const { buildPage } = await import("./build-web.mjs");
await buildPage();
const main = join(root, "packages", "cli", "src", "main.ts");
const flags = ["--import", import.meta.resolve("tsx"), "--conditions=source"];
const program = spawn(process.execPath, [...flags, main, "serve", ...process.argv.slice(2)], {
  stdio: "inherit",
  // npm runs scripts in the root of the workspace; the person may be somewhere else.
  cwd: process.env.INIT_CWD ?? process.cwd(),
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => program.kill(signal));
const [code] = await once(program, "exit");
process.exit(code ?? 1);
