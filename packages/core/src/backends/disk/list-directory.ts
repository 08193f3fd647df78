/** Entries directly in a directory on disk, as `ls` shows them. */

import { type Dirent, lstatSync, type Stats } from "node:fs";
import { canonicalPath, showPath } from "../../paths.ts";
import { sortParts } from "../../text/sort-parts.ts";
import { errorCode } from "../adapt/adapt-errors.ts";
import type { FileInfo, LsResult, SkippedFile } from "../backend.ts";
import { isTemporaryName } from "./atomic-write.ts";
import { asFileError, systemCode } from "./file-errors.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { type PathRequest, resolveChecked } from "./root/resolve-checked.ts";
import { breathe } from "./time-slices.ts";

/** Looking at the clock for each entry would cost more than some of them do. */
const BETWEEN_BREATHS = 64;
/** A file that is still being written is hidden for this long; later it counts as left by a killed process. */
const UNFINISHED_MS = 60_000;
/** Most names need no second look. */
const PLAIN = /^[\w-]+(?:\.[\w-]+)*$/;

/**
 * A link is listed like its target. A link that leads out, nowhere or to a denied path is listed as a plain entry
 * without a size. A name that no path can spell (with a control character, say, or not UTF-8) is in `skipped`, escaped.
 */
export async function listDirectory(
  request: PathRequest,
  signal: AbortSignal | undefined,
): Promise<LsResult> {
  signal?.throwIfAborted();
  const { root, path } = request;
  const resolved = await resolveChecked(request);
  if ("error" in resolved) return resolved;
  const opened = root.openDirectory(path, resolved);
  if ("error" in opened) return opened;
  const { directory } = opened;
  try {
    const listing = new Listing(request, directory);
    await listing.addAll(signal);
    return await listing.result(signal);
  } catch (error) {
    return asFileError(error, path);
  } finally {
    directory.close();
  }
}

class Listing {
  readonly #files: FileInfo[] = [];
  /** The same name may be stored in two forms. */
  readonly #beyondAscii = new Set<string>();
  readonly #skipped: SkippedFile[] = [];
  readonly #request: PathRequest;
  readonly #directory: OpenDirectory;
  readonly #prefix: string;
  /** Where to look at entries; undefined: each look has to be checked. */
  readonly #address: string | undefined;

  constructor(request: PathRequest, directory: OpenDirectory) {
    this.#request = request;
    this.#directory = directory;
    this.#prefix = request.path === "/" ? "/" : `${request.path}/`;
    this.#address = directory.strategy === "descriptor" ? directory.at : undefined;
  }

  async addAll(signal: AbortSignal | undefined): Promise<void> {
    for (const entries of this.#directory.entryParts())
      for (const [index, entry] of entries.entries()) {
        this.add(entry);
        if (index % BETWEEN_BREATHS === 0) await breathe(signal);
      }
  }

  add(entry: Dirent): void {
    const path = `${this.#prefix}${entry.name}`.normalize("NFC");
    if (!PLAIN.test(entry.name) && !this.#isReachable(path)) {
      this.#skipped.push({ path: showPath(path), code: "INVALID_PATH" });
      return;
    }
    try {
      const info = this.#infoOf(entry, path);
      if (info !== undefined) this.#files.push(info);
    } catch (error) {
      this.#skipped.push({ path, code: errorCode(asFileError(error, path)) });
    }
  }

  #isReachable(path: string): boolean {
    if (canonicalPath(path).path !== path || this.#beyondAscii.has(path)) return false;
    this.#beyondAscii.add(path);
    return true;
  }

  async result(signal: AbortSignal | undefined): Promise<LsResult> {
    const sorting = sortParts(this.#files, (one, other) => (one.path < other.path ? -1 : 1));
    let sorted = sorting.next();
    for (; !sorted.done; sorted = sorting.next()) await breathe(signal);
    const files = sorted.value;
    return this.#skipped.length === 0 ? { files } : { files, skipped: this.#skipped };
  }

  #infoOf(entry: Dirent, path: string): FileInfo | undefined {
    if (entry.isDirectory()) return { path: `${path}/`, is_dir: true };
    if (entry.isSymbolicLink()) return this.#linkInfo(path);
    const stats = this.#look(entry.name);
    if (stats === undefined) {
      if (entry.name.includes("\ufffd")) this.#skipped.push({ path: showPath(path), code: "INVALID_PATH" });
      return undefined;
    }
    if (isTemporaryName(entry.name) && Date.now() - stats.mtimeMs < UNFINISHED_MS) return undefined;
    return infoOfStats(path, stats);
  }

  /** Undefined where it is gone by now, or its name has bytes that are no text. */
  #look(name: string): Stats | undefined {
    if (this.#address !== undefined) return lstatSync(`${this.#address}/${name}`, { throwIfNoEntry: false });
    try {
      return this.#directory.lstat(name);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  #linkInfo(path: string): FileInfo {
    try {
      const { root, openCheck } = this.#request;
      const resolved = root.resolve(path);
      resolved.directory?.close();
      const isTold = resolved.directory !== undefined && openCheck?.found?.(resolved.path) === undefined;
      const stats = isTold ? resolved.stats : undefined;
      return stats === undefined ? { path, is_dir: false } : infoOfStats(path, stats);
    } catch (error) {
      asFileError(error, path);
      return { path, is_dir: false };
    }
  }
}

function infoOfStats(path: string, stats: Stats): FileInfo {
  if (stats.isDirectory()) return { path: `${path}/`, is_dir: true };
  if (!stats.isFile()) return { path, is_dir: false };
  return { path, is_dir: false, size: stats.size, modified_at: isoTime(stats.mtimeMs) };
}

/** Files of one directory often come from the same seconds. */
const seconds = new Map<number, string>();

function isoTime(milliseconds: number): string {
  const whole = Math.round(milliseconds);
  const second = Math.floor(whole / 1000);
  let text = seconds.get(second);
  if (text === undefined) {
    if (seconds.size > 1000) seconds.clear();
    text = new Date(second * 1000).toISOString().slice(0, -4);
    seconds.set(second, text);
  }
  return `${text}${String(whole - second * 1000).padStart(3, "0")}Z`;
}
