/**
 * Searches files on disk, with the same results as for a map of the same files.
 *
 * Literal text, matches sorted by path and line, `.gitignore` respected, `.git`, links, special and binary files left
 * out; see `walk.ts`, `scan-file.ts` and `text/ignore-rules.ts`. The start of a search is searched even if it is
 * ignored, also when it is a file. `skipped` lists what could not be searched: files over the size limit, unreadable
 * files and directories, names that are not UTF-8. When the time is up, the matches so far are the result.
 */
import { closeSync } from "node:fs";
import { isWithin, parentPath } from "../../../paths.ts";
import { invalidPattern, matchLimit } from "../../../text/find-lines.ts";
import { compileGlob, type Glob } from "../../../text/glob/glob-match.ts";
import { directoryFilter, literalDirectory } from "../../../text/glob/glob-prune.ts";
import type { FileErrorCode, FileInfo, GlobResult, GrepResult, SkippedFile } from "../../backend.ts";
import { asFileError, notADirectory } from "../file-errors.ts";
import { isLocalDisk } from "../root/local-disk.ts";
import { GrepTree } from "./grep-tree.ts";
import { Pace } from "./pace.ts";
import { FileScanner } from "./scan-file.ts";
import {
  type GlobRequest,
  type GrepRequest,
  openStart,
  type SearchStart,
  startScope,
} from "./search-start.ts";
import { skipCode, TreeWalk } from "./walk.ts";

export async function grepDisk(request: GrepRequest): Promise<GrepResult> {
  request.signal?.throwIfAborted();
  const invalid = invalidPattern(request.pattern);
  if (invalid !== undefined) return invalid;
  const start = await openStart(request);
  if ("error" in start) return start;
  try {
    const base = start.file === undefined ? request.path : parentPath(request.path);
    const filter: Glob = request.glob ? compileGlob(request.glob, base) : { matches: () => true };
    if (filter.error !== undefined) return filter;
    const scanner = new FileScanner(
      request.pattern,
      matchLimit(request.maxCount),
      request.maxFileSizeBytes,
      isLocalDisk(start.directory.at || "/"),
    );
    if (start.file !== undefined)
      return filter.matches(request.path) ? scanOne(start, request.path, scanner) : { matches: [] };
    return await new GrepTree(request, start, scanner, filter.matches).run();
  } catch (error) {
    return asFileError(error, request.path);
  } finally {
    start.directory.close();
  }
}

function scanOne(start: SearchStart, path: string, scanner: FileScanner): GrepResult {
  try {
    const descriptor = start.directory.openFile(start.file ?? "");
    try {
      const matches: { path: string; line: number; text: string }[] = [];
      const outcome = scanner.scan(descriptor, path, matches);
      if (outcome === "too-large") return { matches, skipped: [{ path, code: "TOO_LARGE" }] };
      return outcome === "full" ? { matches, truncated: true } : { matches };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return asFileError(error, path);
  }
}

/** Files only. A directory that the pattern names without wildcards is looked into even where it is ignored. */
export async function globDisk(request: GlobRequest): Promise<GlobResult> {
  request.signal?.throwIfAborted();
  const { path, pattern } = request;
  const start = await openStart(request);
  if ("error" in start) return start;
  try {
    if (start.file !== undefined) return notADirectory(path);
    const glob = compileGlob(pattern, path);
    if (glob.error !== undefined) return glob;
    return await listMatching(request, start, glob.matches);
  } catch (error) {
    return asFileError(error, path);
  } finally {
    start.directory.close();
  }
}

async function listMatching(
  request: GlobRequest,
  start: SearchStart,
  matches: (path: string) => boolean,
): Promise<GlobResult> {
  const { path, pattern } = request;
  const named = literalDirectory(pattern, path);
  const skipped: SkippedFile[] = [];
  const onSkipped = (at: string, code: FileErrorCode): void => void skipped.push({ path: at, code });
  const walk = new TreeWalk({
    ...startScope(request, start),
    enters: directoryFilter(pattern, path),
    fits: matches,
    entered: isWithin(named, path) ? `${named}/` : undefined,
    onSkipped,
  });
  const pace = new Pace(request.timeoutSeconds, request.signal);
  const files: FileInfo[] = [];
  let timedOut = false;
  for (const file of walk.files()) {
    if (pace.isDue && !(await pace.rest())) {
      timedOut = true;
      break;
    }
    if (file === undefined || !matches(file.path)) continue;
    try {
      const stats = file.directory.lstat(file.name);
      if (!stats.isFile()) continue;
      const modified_at = stats.mtime.toISOString();
      files.push({ path: file.path, is_dir: false, size: stats.size, modified_at });
    } catch (error) {
      const code = skipCode(error);
      if (code !== undefined) onSkipped(file.path, code);
    }
  }
  return {
    files,
    ...(timedOut ? { truncated: true, timedOut } : {}),
    ...(skipped.length > 0
      ? { skipped: skipped.sort((one, other) => (one.path < other.path ? -1 : 1)) }
      : {}),
  };
}
