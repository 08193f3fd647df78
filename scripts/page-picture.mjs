// Draws docs/images/page.png: the page of a real server on the scripted model, in Chromium. Usage: node scripts/page-picture.mjs
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureDevelopmentTools } from "./install.mjs";

const scripts = dirname(fileURLToPath(import.meta.url));
await ensureDevelopmentTools();
const flags = ["--import", "tsx", "--conditions=source"];
const { status } = spawnSync(process.execPath, [...flags, join(scripts, "page-picture.ts")], {
  stdio: "inherit",
  cwd: join(scripts, ".."),
});
process.exit(status ?? 1);
