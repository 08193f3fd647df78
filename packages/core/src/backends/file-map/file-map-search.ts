/**
 * Lists and searches a map of files in one pass over its sorted paths.
 *
 * A search has the same result here as on a disk: see `text/find-lines.ts` and `text/ignore-rules.ts`.
 */
import { isWithin, parentPath } from "../../paths.ts";
import { findLines, invalidPattern, isBinaryText, matchLimit } from "../../text/find-lines.ts";
import { compileGlob } from "../../text/glob/glob-match.ts";
import { literalDirectory } from "../../text/glob/glob-prune.ts";
import { IGNORE_FILE, type IgnoreRules, IgnoreScope, parseIgnoreFile } from "../../text/ignore-rules.ts";
import { rarePart, textFinder } from "../../text/linear-search.ts";
import type {
  AnyFileData,
  FileError,
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
} from "../backend.ts";
import { type FileMap, fileInfo, firstAtOrAfter, isText, storedContent } from "./file-map.ts";

/**
 * Entries directly in a directory; directories have a trailing slash. An empty directory and one that does not exist
 * look the same: both have no entries.
 */
export function listFrom(files: FileMap, path: string): LsResult {
  if (files.get(path) !== undefined) return notADirectory(path);
  const prefix = path === "/" ? "/" : `${path}/`;
  const entries: FileInfo[] = [];
  let directory = "";
  for (const file of pathsUnder(files, prefix)) {
    if (directory !== "" && file.startsWith(directory)) continue;
    const slash = file.indexOf("/", prefix.length);
    if (slash === -1) {
      const data = files.get(file);
      if (data !== undefined) entries.push(fileInfo(file, data));
    } else {
      directory = file.slice(0, slash + 1);
      entries.push({ path: directory, is_dir: true });
    }
  }
  return { files: entries };
}

export function globFrom(files: FileMap, pattern: string, path = "/"): GlobResult {
  if (files.get(path) !== undefined) return notADirectory(path);
  const glob = compileGlob(pattern, path);
  if (glob.error !== undefined) return glob;
  const found: FileInfo[] = [];
  for (const file of searchedPaths(files, path, glob.matches, literalDirectory(pattern, path))) {
    const data = files.get(file);
    if (data !== undefined) found.push(fileInfo(file, data));
  }
  return { files: found };
}

/** Searches text files for literal text; a file given as `path` is searched alone. */
export function grepFrom(
  files: FileMap,
  pattern: string,
  path?: string | null,
  glob?: string | null,
  maxCount?: number | null,
): GrepResult {
  const invalid = invalidPattern(pattern);
  if (invalid !== undefined) return invalid;
  const target = path ?? "/";
  const isFile = files.get(target) !== undefined;
  const base = isFile ? parentPath(target) : target;
  const filter = glob ? compileGlob(glob, base) : undefined;
  if (filter?.error !== undefined) return filter;
  const limit = matchLimit(maxCount);
  const matches: GrepMatch[] = [];
  const fits = filter?.matches;
  const alone = fits === undefined || fits(target) ? [target] : [];
  const all = limit === Number.POSITIVE_INFINITY ? files.pathsAsKept?.() : undefined;
  const candidates = isFile ? alone : searchedPaths(files, base, fits, base, all);
  const find = textFinder(pattern);
  const holding = filesHolding(files, candidates, rarePart(pattern));
  for (const file of all === undefined ? holding : [...holding].sort()) {
    const text = storedContent(files.get(file) as AnyFileData);
    if (isBinaryText(text)) continue;
    if (!findLines(matches, file, text, find, limit)) return { matches, truncated: true };
  }
  return { matches };
}

/** A loop of its own, as short as can be: most files of most searches get no further. */
function* filesHolding(files: FileMap, candidates: readonly string[], part: string): Generator<string> {
  for (const file of candidates) {
    const data = files.get(file);
    if (data !== undefined && storedContent(data).includes(part) && isText(data)) yield file;
  }
}

const ignoreFiles = new WeakMap<readonly string[], ReadonlySet<string>>();
const parsedRules = new WeakMap<AnyFileData, IgnoreRules>();

/**
 * The files under `base` that fit and are not ignored. `base`, the directories above it and those down to `entered` are
 * not checked. The files are sorted, or in the order of `kept`, which has all paths.
 */
function searchedPaths(
  files: FileMap,
  base: string,
  fits: ((path: string) => boolean) | undefined,
  entered = base,
  kept?: readonly string[],
): readonly string[] {
  const paths = (base === "/" ? kept : undefined) ?? files.paths();
  const start = base === "/" ? "/" : `${base}/`;
  const known = ignoreFilesIn(paths);
  if (known.size === 0 && !start.includes(REPOSITORY) && isWithin(base, entered)) {
    const plain = under(pathsOutsideRepositories(paths), start);
    return fits === undefined ? plain : plain.filter(fits);
  }
  const ignored = new IgnoredDirectories(files, known, isWithin(entered, base) ? entered : base);
  return under(paths, start).filter((path) => (fits === undefined || fits(path)) && !ignored.hides(path));
}

const REPOSITORY = "/.git/";
const outsideRepositories = new WeakMap<readonly string[], readonly string[]>();

/** Most searches look at all of them, again and again: the same array while the paths are the same. */
function pathsOutsideRepositories(paths: readonly string[]): readonly string[] {
  const known = outsideRepositories.get(paths);
  if (known !== undefined) return known;
  const isInside = (path: string): boolean => path.includes(REPOSITORY) || path.endsWith("/.git");
  const found = paths.some(isInside) ? paths.filter((path) => !isInside(path)) : paths;
  outsideRepositories.set(paths, found);
  return found;
}

/** Paths that begin with `start`, which ends with a slash. `paths` are sorted unless `start` is `/`. */
function under(paths: readonly string[], start: string): readonly string[] {
  if (start === "/") return paths;
  const end = `${start.slice(0, -1)}${AFTER_SLASH}`;
  return paths.slice(firstAtOrAfter(paths, start), firstAtOrAfter(paths, end));
}

/** The character that sorts right behind a slash. */
const AFTER_SLASH = "0";

function ignoreFilesIn(paths: readonly string[]): ReadonlySet<string> {
  const known = ignoreFiles.get(paths);
  if (known !== undefined) return known;
  const found = new Set(paths.filter((path) => path.endsWith(`/${IGNORE_FILE}`)));
  ignoreFiles.set(paths, found);
  return found;
}

/** Ignored directories of a map. Directories are named without a slash at their end: `""` is the root. */
class IgnoredDirectories {
  readonly #files: FileMap;
  readonly #ignoreFiles: ReadonlySet<string>;
  /** Never ignored, nor is any directory above it. */
  readonly #entered: string;
  readonly #scopes = new Map<string, IgnoreScope | undefined>();
  /** Sorted paths are asked about one directory at a time. */
  #lastDirectory = "?";
  #lastScope: IgnoreScope | undefined;

  constructor(files: FileMap, known: ReadonlySet<string>, entered: string) {
    this.#files = files;
    this.#ignoreFiles = known;
    this.#entered = entered;
  }

  hides(path: string): boolean {
    const slash = path.lastIndexOf("/");
    if (slash !== this.#lastDirectory.length || !path.startsWith(this.#lastDirectory)) {
      this.#lastDirectory = path.slice(0, slash);
      this.#lastScope = this.scopeOf(this.#lastDirectory);
    }
    return this.#lastScope === undefined || this.#lastScope.ignores(path, path.slice(slash + 1), false);
  }

  /** The ignore rules in a directory; undefined when the directory, or one above it, is ignored. */
  scopeOf(directory: string): IgnoreScope | undefined {
    if (this.#scopes.has(directory)) return this.#scopes.get(directory);
    const scope = this.#scopeIn(directory);
    this.#scopes.set(directory, scope);
    return scope;
  }

  #scopeIn(directory: string): IgnoreScope | undefined {
    const outer =
      directory === "" ? IgnoreScope.none : this.scopeOf(directory.slice(0, directory.lastIndexOf("/")));
    if (outer === undefined) return undefined;
    if (directory !== "" && !isWithin(this.#entered, directory)) {
      const name = directory.slice(directory.lastIndexOf("/") + 1);
      if (outer.ignores(directory, name, true)) return undefined;
    }
    const rules = this.#rulesIn(directory);
    return rules === undefined ? outer : outer.inside(`${directory}/`, rules);
  }

  #rulesIn(directory: string): IgnoreRules | undefined {
    const path = `${directory}/${IGNORE_FILE}`;
    const data = this.#ignoreFiles.has(path) ? this.#files.get(path) : undefined;
    if (data === undefined || !isText(data)) return undefined;
    const rules = parsedRules.get(data) ?? parseIgnoreFile(storedContent(data));
    parsedRules.set(data, rules);
    return rules;
  }
}

function* pathsUnder(files: FileMap, prefix: string): Generator<string> {
  const paths = files.paths();
  for (let index = firstAtOrAfter(paths, prefix); index < paths.length; index++) {
    const path = paths[index] as string;
    if (!path.startsWith(prefix)) return;
    yield path;
  }
}

function notADirectory(path: string): FileError {
  return { error: `'${path}' is a file, not a directory`, code: "NOT_A_DIRECTORY" };
}

/** Every file at or under `path`. */
export function filesAt(files: FileMap, path: string): string[] {
  if (files.get(path) !== undefined) return [path];
  return [...pathsUnder(files, path === "/" ? "/" : `${path}/`)];
}
