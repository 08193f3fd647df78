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
  /** Directories that could not be listed. The walk says nothing about what is in them. */
  readonly closed: readonly string[];
  /** The directory has more entries than are looked at. */
  readonly isCut: boolean;
}

interface Walking {
  readonly entries: Map<string, EntryFacts>;
  readonly unnamed: string[];
  readonly closed: string[];
  readonly most: number;
  readonly known: ReadonlyMap<string, EntryFacts>;
}

/** A directory that was walked before, or ignored, by `known`, is treated the same way again. */
export async function walkTree(
  root: OpenDirectory,
  most: number,
  known: ReadonlyMap<string, EntryFacts> = new Map(),
): Promise<TreeWalk> {
  const walking: Walking = { entries: new Map(), unnamed: [], closed: [], most, known };
  await walkDirectory(root, "", walking);
  const { entries, unnamed, closed } = walking;
  return { entries, unnamed, closed, isCut: entries.size >= most };
}

async function walkDirectory(directory: OpenDirectory, prefix: string, walking: Walking): Promise<void> {
  const { entries } = walking;
  const below: string[] = [];
  await breathe();
  for (const name of namesIn(directory, prefix, walking)) {
    if (entries.size >= walking.most) return;
    if (isPassing(name)) continue;
    const facts = factsOf(directory, name, `${prefix}/${name}`, walking);
    if (facts?.kind === "directory") below.push(name);
  }
  for (const name of below) {
    const child = openChild(directory, name, `${prefix}/${name}`, walking);
    if (child === undefined) continue;
    try {
      await walkDirectory(child, `${prefix}/${name}`, walking);
    } finally {
      child.close();
    }
  }
}

function namesIn(directory: OpenDirectory, path: string, { closed }: Walking): readonly string[] {
  try {
    return readdirSync(directory.at || "/");
  } catch (error) {
    noteClosed(error, path, closed);
    return [];
  }
}

function openChild(
  directory: OpenDirectory,
  name: string,
  path: string,
  { closed }: Walking,
): OpenDirectory | undefined {
  try {
    return directory.child(name);
  } catch (error) {
    noteClosed(error, path, closed);
    return undefined;
  }
}

/** A directory that has gone is empty. */
function noteClosed(error: unknown, path: string, closed: string[]): void {
  const code = systemCode(error);
  if (code === undefined) throw error;
  if (CLOSED.has(code)) closed.push(path);
}

const CLOSED = new Set(["EACCES", "EPERM"]);

function factsOf(
  directory: OpenDirectory,
  name: string,
  path: string,
  { entries, unnamed, closed, known }: Walking,
): EntryFacts | undefined {
  const stats = statsOf(`${directory.at}/${name}`);
  if (stats === "closed") {
    const parent = path.slice(0, -name.length - 1);
    if (closed.at(-1) !== parent) closed.push(parent);
    return undefined;
  }
  if (stats === undefined || !path.isWellFormed()) {
    if (name.includes("\uFFFD")) unnamed.push(path);
    return undefined;
  }
  const { mode, size, ino, mtimeMs, ctimeMs } = stats;
  const kind = kindOf(stats, directory, name, path, known);
  const facts: EntryFacts = { kind, mode: mode & 0o7777, size, ino, mtimeMs, ctimeMs };
  entries.set(path, kind === "ignored" ? withContent(facts, ignoredFacts(directory, name)) : facts);
  return facts;
}

/** Facts of an entry; `closed` in a directory that may not be entered. */
function statsOf(path: string): Stats | "closed" | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!CLOSED.has(systemCode(error) ?? "")) throw error;
    return "closed";
  }
}

function kindOf(
  stats: Stats,
  directory: OpenDirectory,
  name: string,
  path: string,
  known: ReadonlyMap<string, EntryFacts>,
): EntryFacts["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "symlink";
  if (!stats.isDirectory()) return "special";
  if (isIgnoredDirectory(name)) return "ignored";
  const before = known.get(path);
  const tag = statsOf(`${directory.at}/${name}/${CACHE_TAG}`);
  if (tag === "closed") return before?.ino === stats.ino ? before.kind : "directory";
  const kind = tag?.isFile() ? "ignored" : "directory";
  if (before?.ino !== stats.ino || before.kind === kind) return kind;
  if (before.kind === "ignored") return "ignored";
  return before.kind === "directory" && hasBelow(known, path) ? "directory" : kind;
}

function hasBelow(known: ReadonlyMap<string, EntryFacts>, path: string): boolean {
  for (const one of known.keys()) if (one.startsWith(`${path}/`)) return true;
  return false;
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
