/** Listing and searching a map of files in one pass over its sorted paths. */
import { parentPath } from "../paths.ts";
import { compileGlob, type Glob } from "../text/glob-match.ts";
import { afterLineEnd, lineEndIndex } from "../text/lines.ts";
import type { FileError, FileInfo, GlobResult, GrepMatch, GrepResult, LsResult } from "./backend.ts";
import { type FileMap, fileInfo, firstAtOrAfter, isText, storedContent } from "./file-map.ts";

/**
 * What lies directly in a directory; directories have a trailing slash. One that nothing lies in cannot
 * be told from one that does not exist: both are empty.
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
  for (const file of pathsUnder(files, path === "/" ? "/" : `${path}/`)) {
    if (!glob.matches(file)) continue;
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
  if (pattern === "") return { error: "Pattern is empty", code: "INVALID_PATTERN" };
  const target = path ?? "/";
  const isFile = files.get(target) !== undefined;
  const base = isFile ? parentPath(target) : target;
  const filter: Glob = glob ? compileGlob(glob, base) : { matches: () => true };
  if (filter.error !== undefined) return filter;
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const matches: GrepMatch[] = [];
  const candidates = isFile ? [target] : pathsUnder(files, base === "/" ? "/" : `${base}/`);
  for (const file of candidates) {
    if (!filter.matches(file)) continue;
    const data = files.get(file);
    if (data === undefined || !isText(data)) continue;
    const text = storedContent(data);
    const first = text.indexOf(pattern);
    if (first === -1) continue;
    if (!collectLines(matches, file, text, pattern, first, cap)) return { matches, truncated: true };
  }
  return { matches };
}

/** Adds each line that holds `pattern`; false as soon as one more than `cap` was found. */
function collectLines(
  matches: GrepMatch[],
  path: string,
  text: string,
  pattern: string,
  first: number,
  cap: number,
): boolean {
  let start = 0;
  let line = 1;
  for (let at = first; at !== -1; at = text.indexOf(pattern, start)) {
    let end = lineEndIndex(text, start);
    let next = afterLineEnd(text, end);
    while (next <= at) {
      start = next;
      line += 1;
      end = lineEndIndex(text, start);
      next = afterLineEnd(text, end);
    }
    if (matches.length >= cap) return false;
    matches.push({ path, line, text: text.slice(start, end) });
    if (next >= text.length) return true;
    start = next;
    line += 1;
  }
  return true;
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
