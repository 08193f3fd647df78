import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A new empty directory. The runner shows its path as `<scratch>/…` and removes it. */
export function scratch(name: string): string {
  const home = process.env.COMPAT_SCRATCH;
  if (home === undefined)
    throw new Error("COMPAT_SCRATCH is not set: start the programs with npm run compat.");
  mkdirSync(home, { recursive: true });
  const directory = join(home, name);
  mkdirSync(directory);
  return directory;
}

/** Writes files below a directory, with their parent directories. */
export function fill(directory: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}
