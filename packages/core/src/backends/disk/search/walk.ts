/**
 * Walks a directory tree in the order of the paths in it, one held-open directory at a time.
 *
 * Paths are ordered by code units, so a directory comes where its name with a slash would. Links are never followed and
 * never reported; neither are pipes, sockets and devices. Entries that vanish meanwhile, and files that are still being
 * written, do not count. Unreadable directories and names that are not UTF-8 are reported.
 */
import { isUtf8 } from "node:buffer";
import { closeSync, type Dirent, fstatSync, readFileSync } from "node:fs";
import { MAX_PATH_LENGTH } from "../../../paths.ts";
import {
  IGNORE_FILE,
  type IgnoreRules,
  type IgnoreScope,
  MAX_IGNORE_FILE_SIZE,
  parseIgnoreFile,
} from "../../../text/ignore-rules.ts";
import { sortParts } from "../../../text/sort-parts.ts";
import type { FileErrorCode } from "../../backend.ts";
import { isTemporaryName } from "../atomic-write.ts";
import { systemCode } from "../file-errors.ts";
import type { OpenDirectory } from "../root/open-directory.ts";

export interface WalkedFile {
  /** Open until the next file is asked for. */
  readonly directory: OpenDirectory;
  readonly name: string;
  readonly path: string;
}

export interface WalkOptions {
  /** Where to start; stays open. */
  readonly directory: OpenDirectory;
  /** Its path without links, for ignore rules; with a slash at its end, as are all directories here. */
  readonly realPath: string;
  /** Prefix of the paths that are found. */
  readonly path: string;
  /** The rules from above. */
  readonly scope: IgnoreScope;
  readonly readIgnoreFiles: boolean;
  /** Whether to look into a directory at all. */
  readonly enters?: (path: string) => boolean;
  /** Files that do not fit are passed on without a check of ignore rules: the caller drops them. */
  readonly fits?: (path: string) => boolean;
  /** A directory that is entered without a check, like those above it. */
  readonly entered?: string;
  /** `order` is where it would have come in the walk. */
  readonly onSkipped: (path: string, code: FileErrorCode, order: string) => void;
}

interface Frame {
  readonly directory: OpenDirectory;
  readonly path: string;
  readonly realPath: string;
  readonly scope: IgnoreScope;
  readonly entries: readonly Entry[];
  next: number;
}

interface Entry {
  /** The name in paths, with a slash behind a directory's. */
  readonly key: string;
  /** The name on disk. */
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Work that gives its caller a turn at each `undefined`. */
type KeyLock<Result = void> = Generator<undefined, Result>;

/** Work without a file to show for it after which the walk gives its caller a turn: entries, directories count more. */
const IDLE_LIMIT = 512;
const IDLE_DIRECTORY = 16;

const REPLACEMENT = "\uFFFD";
const FOREIGN = /[^\p{ASCII}]/u;

export class TreeWalk {
  readonly #options: WalkOptions;
  readonly #frames: Frame[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  /** Undefined: no file yet, but the caller may have to look at the clock. */
  *files(): Generator<WalkedFile | undefined> {
    const { directory, path, realPath, scope } = this.#options;
    let idle = 0;
    try {
      yield* this.#push(directory, path, realPath, scope);
      for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
        const entry = frame.entries[frame.next++];
        const file = entry === undefined || entry.isDirectory ? undefined : this.#fileAt(frame, entry);
        if (entry === undefined) this.#pop();
        else if (entry.isDirectory) yield* this.#enter(frame, entry);
        idle += entry?.isDirectory ? IDLE_DIRECTORY : 1;
        if (file === undefined && idle < IDLE_LIMIT) continue;
        idle = 0;
        yield file;
      }
    } finally {
      while (this.#frames.length > 0) this.#pop();
    }
  }

  /** Undefined where it is ignored. */
  #fileAt(frame: Frame, entry: Entry): WalkedFile | undefined {
    const { fits } = this.#options;
    const file = { directory: frame.directory, name: entry.name, path: frame.path + entry.key };
    const isWanted = fits === undefined || fits(file.path);
    return isWanted && frame.scope.ignores(frame.realPath + entry.name, entry.name, false) ? undefined : file;
  }

  *#enter(frame: Frame, entry: Entry): KeyLock {
    const path = frame.path + entry.key;
    const { enters, entered } = this.#options;
    if (enters !== undefined && !enters(path)) return;
    const isGiven = entered?.startsWith(path) ?? false;
    if (!isGiven && frame.scope.ignores(frame.realPath + entry.name, entry.name, true)) return;
    if (path.length > MAX_PATH_LENGTH) {
      this.#skip(path, "INVALID_PATH");
      return;
    }
    let directory: OpenDirectory | undefined;
    try {
      directory = frame.directory.child(entry.name);
      yield* this.#push(directory, path, `${frame.realPath}${entry.name}/`, frame.scope);
    } catch (error) {
      directory?.close();
      this.#skip(path, skipCode(error));
    }
  }

  *#push(directory: OpenDirectory, path: string, realPath: string, outer: IgnoreScope): KeyLock {
    const entries = yield* this.#entriesOf(directory, path);
    let scope = outer;
    if (this.#options.readIgnoreFiles) {
      const hasRules = entries.some(({ name, isDirectory }) => name === IGNORE_FILE && !isDirectory);
      const rules = hasRules ? readIgnoreFile(directory) : undefined;
      if (rules !== undefined) scope = outer.inside(realPath, rules);
    }
    this.#frames.push({ directory, path, realPath, scope, entries, next: 0 });
  }

  #pop(): void {
    const frame = this.#frames.pop();
    if (frame !== undefined && frame.directory !== this.#options.directory) frame.directory.close();
  }

  *#entriesOf(directory: OpenDirectory, path: string): KeyLock<Entry[]> {
    const found: Entry[] = [];
    let parts = 0;
    for (const part of directory.entryParts()) {
      if (parts++ > 0) yield;
      for (const entry of part) if (isWalked(entry)) found.push(entryOf(entry));
    }
    const entries = parts > 1 ? yield* sortParts(found, byKey) : found.sort(byKey);
    const isDoubtful = entries.some(({ name }) => name.includes(REPLACEMENT));
    return isDoubtful ? this.#withoutBrokenNames(directory, entries, path) : entries;
  }

  #withoutBrokenNames(directory: OpenDirectory, entries: readonly Entry[], path: string): Entry[] {
    const broken = new Set<string>();
    for (const { name } of directory.rawEntries()) if (!isUtf8(name)) broken.add(name.toString());
    for (const { name, key } of entries)
      if (broken.has(name)) this.#options.onSkipped(path + name, "INVALID_PATH", path + key);
    return entries.filter(({ name }) => !broken.has(name));
  }

  #skip(directory: string, code: FileErrorCode | undefined): void {
    if (code !== undefined) this.#options.onSkipped(directory.slice(0, -1), code, directory);
  }
}

function isWalked(entry: Dirent): boolean {
  return (entry.isDirectory() || entry.isFile()) && !isTemporaryName(entry.name);
}

function entryOf(entry: Dirent): Entry {
  const { name } = entry;
  const isDirectory = entry.isDirectory();
  const spelled = FOREIGN.test(name) ? name.normalize("NFC") : name;
  return { key: isDirectory ? `${spelled}/` : spelled, name, isDirectory };
}

function byKey(one: Entry, other: Entry): number {
  return one.key < other.key ? -1 : 1;
}

/** The rules in the ignore file of a directory; undefined where there is none that can be read. */
export function readIgnoreFile(directory: OpenDirectory): IgnoreRules | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = directory.openFile(IGNORE_FILE);
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_IGNORE_FILE_SIZE) return undefined;
    return parseIgnoreFile(readFileSync(descriptor, "utf8"));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The code for a skipped entry; undefined for one that vanished or became a link meanwhile. */
export function skipCode(error: unknown): FileErrorCode | undefined {
  const code = systemCode(error);
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ESTALE") return undefined;
  if (code === "EACCES" || code === "EPERM") return "PERMISSION_DENIED";
  if (code === "ENAMETOOLONG") return "INVALID_PATH";
  return "UNAVAILABLE";
}
