/** Runs a file of the user's and returns what it exports. */
import { createRequire } from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";

export async function importProgram(path: string): Promise<Record<string, unknown>> {
  if (/\.[cm]?ts$/.test(path)) await readyForTypes(path);
  try {
    return exportsOf(await import(pathToFileURL(path).href));
  } catch (cause) {
    const { message = String(cause) } = (cause ?? {}) as Partial<Error>;
    throw new CommandError(`${safeLine(basename(path))} cannot be loaded: ${safeLine(message, 1_000)}`, {
      cause,
    });
  }
}

/** A module that was made into CommonJS, as in a package that is not of type module, has its exports one level deeper. */
function exportsOf(loaded: Record<string, unknown>): Record<string, unknown> {
  const inner = loaded.default as Record<string, unknown> | undefined;
  return inner && typeof inner === "object" && "__esModule" in inner ? inner : loaded;
}

let isRegistered = false;

/** By tsx, the project's before ours, since it reads all of TypeScript; else by Node itself, where it can. */
async function readyForTypes(path: string): Promise<void> {
  if (isRegistered) return;
  const loader = tsxFor(path);
  if (loader !== undefined) {
    await import(pathToFileURL(loader).href);
    isRegistered = true;
  } else if (!(process.features as { typescript?: unknown }).typescript) {
    throw new CommandError(
      `${safeLine(basename(path))} is TypeScript, which this version of Node cannot read.`,
      {
        hint: "Install tsx beside it: npm install --save-dev tsx",
      },
    );
  }
}

/** The module that `node --import tsx` loads; it reads all later modules. */
function tsxFor(path: string): string | undefined {
  for (const from of [pathToFileURL(path), import.meta.url]) {
    try {
      return createRequire(from).resolve("tsx");
    } catch {}
  }
  return undefined;
}
