/** The directories whose instructions a person trusts, each with the content it had then. */
import { join, resolve } from "node:path";
import { isRecord } from "deepwright/check-options";
import { CommandError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { InstructionFile } from "./instruction-files.ts";

export interface TrustedDirectory {
  /** Its real path. */
  readonly path: string;
  /** ISO 8601. */
  readonly at: string;
  /** Paths as the agent sees them, and hashes. */
  readonly files: readonly (readonly [string, string])[];
}

export interface TrustRecord {
  list(): Promise<readonly TrustedDirectory[]>;
  get(directory: string): Promise<TrustedDirectory | undefined>;
  put(directory: string, files: readonly Pick<InstructionFile, "path" | "hash">[]): Promise<void>;
  /** False: it was not there. */
  remove(directory: string): Promise<boolean>;
}

/** Nothing is read or written here. A link, or a file of another user, is refused by an error. */
export function openTrustRecord(home: string): TrustRecord {
  const path = join(home, "trust.json");
  const list = async (): Promise<readonly TrustedDirectory[]> => {
    const { readPrivateFile } = await import("@deepwright/mcp");
    const text = await readPrivateFile(path).catch(refused);
    return text === undefined ? [] : readRecord(text, path);
  };
  const write = async (directories: readonly TrustedDirectory[]): Promise<void> => {
    const { writePrivateFile } = await import("@deepwright/mcp");
    await writePrivateFile(path, `${JSON.stringify({ version: 1, directories }, undefined, 2)}\n`);
  };
  return {
    list,
    get: async (directory) => (await list()).find((one) => one.path === directory),
    put: (directory, files) =>
      alone(path, async () => {
        const others = (await list()).filter((one) => one.path !== directory);
        const entry: TrustedDirectory = {
          path: directory,
          at: new Date().toISOString(),
          files: files.map((file) => [file.path, file.hash]),
        };
        await write([...others, entry]);
      }),
    remove: (directory) =>
      alone(path, async () => {
        const known = await list();
        const others = known.filter((one) => one.path !== directory);
        if (others.length < known.length) await write(others);
        return others.length < known.length;
      }),
  };
}

/** Runs a change while no other process changes the file: of two at once neither is lost. */
async function alone<Result>(path: string, change: () => Promise<Result>): Promise<Result> {
  const { withPathLock } = await import("deepwright/internal");
  return withPathLock(resolve(path), { path: "trust.json" }, change);
}

function readRecord(text: string, path: string): readonly TrustedDirectory[] {
  try {
    const { version, directories } = JSON.parse(text);
    if (version === 1 && Array.isArray(directories) && directories.every(isDirectory)) return directories;
  } catch {
    // Said below.
  }
  throw new CommandError(`${safeLine(path)} is not the list of trusted directories.`, {
    hint: "Remove it; you will be asked again.",
  });
}

function isDirectory(value: unknown): value is TrustedDirectory {
  if (!isRecord(value)) return false;
  const { path, at, files } = value;
  const isFile = (file: unknown): boolean =>
    Array.isArray(file) && file.length === 2 && file.every((part) => typeof part === "string");
  return typeof path === "string" && typeof at === "string" && Array.isArray(files) && files.every(isFile);
}

function refused(error: Error & { readonly hint?: string }): never {
  throw new CommandError(safeLine(error.message, 500), {
    cause: error,
    ...(error.hint && { hint: error.hint }),
  });
}
