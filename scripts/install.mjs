// Installs packages that only development, tests and cloud sandboxes need, on first use. As a program: those for development.
// Uses nothing that is not part of Node.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Runs npm in `directory` when a package that its manifest names is missing, or the lock file changed since the last
 * install. `what` tells the user what is installed.
 */
export async function ensureInstalled(directory, what, args, log = (line) => console.log(line)) {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const lock = createHash("sha256")
    .update(readFileSync(join(directory, "package-lock.json")))
    .digest("hex");
  const stamp = join(directory, "node_modules", ".installed-lock");
  const isThere = (name) => existsSync(join(directory, "node_modules", name));
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  if (names.every(isThere) && existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  log(`Installing ${what} …`);
  const all = [...args, "--no-audit", "--no-fund", "--loglevel=error"];
  const [status] = await once(spawn("npm", all, { cwd: directory, stdio: ["ignore", 2, 2] }), "exit");
  if (status !== 0) throw new Error(`npm ${args.join(" ")} in ${directory} ended with code ${status}.`);
  writeFileSync(stamp, lock);
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What builds the page, with the other tools of development. */
export async function ensureBuildTools() {
  await ensureInstalled(root, "what development needs (about 200 MB)", ["install", "--include=dev"]);
}

/** Linter, type checker, test runner and SDKs of sandbox providers. */
export async function ensureDevelopmentTools() {
  await Promise.all([
    ensureBuildTools(),
    ensureInstalled(join(root, "packages"), "the SDKs of sandbox providers (about 200 MB)", ["ci"]),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureDevelopmentTools();
