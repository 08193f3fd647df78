/** Walks a directory, broad before deep, without following links. */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { isSecretName, isUsableName, SKIPPED_DIRECTORIES, VERSION_CONTROL } from "./entry-names.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import type { LeftOut, LeftOutReason } from "./left-out.ts";

export interface Walk {
  /** Absolute, parents before children, siblings by name. */
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** False when there was more than `maxEntries` to look at. */
  readonly complete: boolean;
}

interface Found {
  readonly path: string;
  readonly kind: "file" | "directory" | LeftOutReason;
}

export interface WalkOptions {
  readonly signal?: AbortSignal;
  /** A directory to leave out, unless it is `root` itself; absolute. */
  readonly out?: string;
}

export async function walk(
  root: string,
  maxEntries: number,
  { signal, out }: WalkOptions = {},
): Promise<Walk> {
  const files: string[] = [];
  const leftOut: LeftOut[] = [];
  const queue = [{ directory: root, rules: await IgnoreRules.around(root) }];
  let seen = 0;
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    signal?.throwIfAborted();
    const { rules, found } = await look(item.directory, item.rules, out);
    for (const { path, kind } of found) {
      if (++seen > maxEntries) return { files, leftOut, complete: false };
      if (kind === "file") files.push(path);
      else if (kind === "directory") queue.push({ directory: path, rules });
      else leftOut.push({ reason: kind, path: relative(root, path) });
    }
  }
  return { files, leftOut, complete: true };
}

/** What lies in a directory, and the rules in force there. */
async function look(
  directory: string,
  above: IgnoreRules,
  out: string | undefined,
): Promise<{ readonly rules: IgnoreRules; readonly found: readonly Found[] }> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return { rules: above, found: [{ path: directory, kind: "unreadable" }] };
  const hasRules = entries.some(({ name }) => name === ".gitignore");
  const rules = hasRules ? await above.enter(directory) : above;
  const found = entries
    .filter(({ name }) => !VERSION_CONTROL.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => {
      const path = join(directory, entry.name);
      return { path, kind: path === out ? ("out" as const) : kindOf(entry, path, rules) };
    });
  return { rules, found };
}

interface Entry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: Entry, path: string, rules: IgnoreRules): Found["kind"] {
  const isDirectory = entry.isDirectory();
  if (isDirectory && SKIPPED_DIRECTORIES.has(entry.name)) return "ignored";
  if (rules.ignores(path, isDirectory)) return "ignored";
  if (entry.isSymbolicLink()) return "link";
  if (!isUsableName(entry.name)) return "name";
  if (isDirectory) return "directory";
  if (!entry.isFile()) return "unreadable";
  return isSecretName(entry.name) ? "secret" : "file";
}
