/** Lists everything in a directory by name, time and size, without reading a file or following a link. */
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { systemCode } from "../file-errors.ts";
import type { OpenDirectory } from "../root/open-directory.ts";
import { breathe } from "../time-slices.ts";
import { type IgnoredFacts, ignoredFacts } from "./ignored-directory.ts";
import { CACHE_TAG, isIgnoredDirectory, isPassing } from "./snapshot-policy.ts";

/** Facts that change whenever the entry does. */
export interface EntryFacts {
  readonly kind: "file" | "symlink" | "directory" | "ignored" | "special";
  readonly mode: number;
  /** Bytes; for an ignored directory, the number of its entries. */
  readonly size: number;
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export interface TreeWalk {
  /** By path, which begins with `/`. */
  readonly entries: Map<string, EntryFacts>;
  /** Names that are not UTF-8 cannot be kept. */
  readonly unnamed: readonly string[];
  /** The directory has more entries than are looked at. */
  readonly isCut: boolean;
}

interface Walking {
  readonly entries: Map<string, EntryFacts>;
  readonly unnamed: string[];
  readonly most: number;
}

export async function walkTree(root: OpenDirectory, most: number): Promise<TreeWalk> {
  const walking: Walking = { entries: new Map(), unnamed: [], most };
  await walkDirectory(root, "", walking);
  return { entries: walking.entries, unnamed: walking.unnamed, isCut: walking.entries.size >= most };
}

async function walkDirectory(directory: OpenDirectory, prefix: string, walking: Walking): Promise<void> {
  const { entries } = walking;
  const below: string[] = [];
  await breathe();
  for (const name of namesIn(directory)) {
    if (entries.size >= walking.most) return;
    if (isPassing(name)) continue;
    const facts = factsOf(directory, name, `${prefix}/${name}`, walking);
    if (facts?.kind === "directory") below.push(name);
  }
  for (const name of below) {
    const child = openChild(directory, name);
    if (child === undefined) continue;
    try {
      await walkDirectory(child, `${prefix}/${name}`, walking);
    } finally {
      child.close();
    }
  }
}

/** A directory that nobody may list is empty for us; so is one that has gone. */
function namesIn(directory: OpenDirectory): readonly string[] {
  try {
    return readdirSync(directory.at || "/");
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

function openChild(directory: OpenDirectory, name: string): OpenDirectory | undefined {
  try {
    return directory.child(name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function factsOf(
  directory: OpenDirectory,
  name: string,
  path: string,
  { entries, unnamed }: Walking,
): EntryFacts | undefined {
  const stats = lstatSync(`${directory.at}/${name}`, { throwIfNoEntry: false });
  if (stats === undefined || !path.isWellFormed()) {
    if (name.includes("\uFFFD")) unnamed.push(path);
    return undefined;
  }
  const { mode, size, ino, mtimeMs, ctimeMs } = stats;
  const kind = kindOf(stats, directory, name);
  const facts: EntryFacts = { kind, mode: mode & 0o7777, size, ino, mtimeMs, ctimeMs };
  entries.set(path, kind === "ignored" ? withContent(facts, ignoredFacts(directory, name)) : facts);
  return facts;
}

function kindOf(stats: Stats, directory: OpenDirectory, name: string): EntryFacts["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "symlink";
  if (!stats.isDirectory()) return "special";
  const tag = `${directory.at}/${name}/${CACHE_TAG}`;
  return isIgnoredDirectory(name) || lstatSync(tag, { throwIfNoEntry: false })?.isFile()
    ? "ignored"
    : "directory";
}

function withContent(facts: EntryFacts, { entries, mtimeMs, ctimeMs }: IgnoredFacts): EntryFacts {
  return { ...facts, size: entries, mtimeMs, ctimeMs };
}

/** The times of directories change with the names in them, which have entries of their own. */
export function sameFacts(one: EntryFacts, other: EntryFacts): boolean {
  if (one.kind !== other.kind || one.mode !== other.mode || one.ino !== other.ino) return false;
  if (one.kind === "directory") return true;
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs;
}
