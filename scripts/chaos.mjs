// Runs the chaos scenarios from source; see `npm run chaos -- --help`.
import { spawn } from "node:child_process";
import { ensureDevelopmentTools } from "./install.mjs";

await ensureDevelopmentTools();
const flags = ["--import", "tsx", "--conditions=source"];
const program = "packages/server/src/chaos/main.ts";
const child = spawn(process.execPath, [...flags, program, ...process.argv.slice(2)], { stdio: "inherit" });

// The terminal sends its signals to both; the child cleans up and this one waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
