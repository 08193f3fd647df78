/** Reads one file of settings. What is wrong in it is an error that names the file, the key and what was expected. */
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { LayerKind } from "./merge.ts";
import type { Settings } from "./schema.ts";

export type FileKind = Extract<LayerKind, "user" | "project" | "local">;

export interface SettingsFile {
  readonly kind: FileKind;
  readonly path: string;
  /** Absent: there is no such file. */
  readonly text?: string;
}

/** Names below the project's directory. */
export const PROJECT_FILES = {
  project: ".deepwright/settings.json",
  local: ".deepwright/settings.local.json",
} as const;

const MOST_BYTES = 1024 * 1024;

export function settingsPath(kind: FileKind, directory: string, home: string): string {
  return kind === "user" ? join(home, "settings.json") : join(directory, PROJECT_FILES[kind]);
}

/** All three, whether they are there or not; later ones count more. `directory` is a real path. */
export async function readSettingsFiles(directory: string, home: string): Promise<readonly SettingsFile[]> {
  const kinds: readonly FileKind[] =
    settingsPath("project", directory, home) === settingsPath("user", directory, home)
      ? ["user"]
      : ["user", "project", "local"];
  return Promise.all(
    kinds.map(async (kind) => {
      const path = settingsPath(kind, directory, home);
      const text = await textOf(path, kind);
      return text === undefined ? { kind, path } : { kind, path, text };
    }),
  );
}

/** A project's file is read only where it lies: a link may lead anywhere. */
async function textOf(path: string, kind: FileKind): Promise<string | undefined> {
  try {
    const facts = kind === "user" ? undefined : await lstat(path);
    if (facts && !facts.isFile()) throw usageError(`${safeLine(path)} is not a plain file.`);
    const bytes = await readFile(path);
    if (bytes.length > MOST_BYTES) throw usageError(`${safeLine(path)} is larger than 1 MiB.`);
    return new TextDecoder().decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === undefined) throw error;
    throw usageError(`${safeLine(path)} cannot be read (${code}).`);
  }
}

export async function parseSettings(text: string, path: string): Promise<Settings> {
  let given: unknown;
  try {
    given = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    throw usageError(
      `${safeLine(path)} is not JSON: ${safeLine((error as Error).message, 200)}.`,
      "Comments and trailing commas are not allowed.",
    );
  }
  return checkedSettings(given, safeLine(path));
}

/** `origin` is the file, variable or flag that the words of an error name. */
export async function checkedSettings(given: unknown, origin: string): Promise<Settings> {
  const { settingsSchema } = await import("./schema.ts");
  const result = settingsSchema.safeParse(given);
  if (result.success) return result.data;
  const { problemWords } = await import("./problem-words.ts");
  throw usageError(
    `${origin}: ${problemWords(result.error.issues, given)}.`,
    "The settings are described in docs/settings.md.",
  );
}
