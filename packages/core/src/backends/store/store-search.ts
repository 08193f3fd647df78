/**
 * Lists and searches the files of a store.
 *
 * If the store can give keys without values, ls and glob read no value. Grep reads only values of files that its filter
 * passes, in the order of their paths, until it has enough.
 */
import { isWithin, parentPath } from "../../paths.ts";
import { compileGlob } from "../../text/glob/glob-match.ts";
import type { FileInfo, GlobResult, GrepMatch, GrepResult, LsResult, SkippedFile } from "../backend.ts";
import { globFrom, grepFrom, listFrom } from "../file-map/file-map-search.ts";
import type { FoundFile, ListedFile, Listing, StoreFiles } from "./store-files.ts";
import { listedMap } from "./store-view.ts";

export interface StoreGrep {
  readonly pattern: string;
  readonly target: string;
  readonly glob?: string | null;
  readonly maxCount?: number | null;
  readonly signal?: AbortSignal;
}

/** Files fetched at a time by a grep that may stop early. */
const CHUNK = 200;
const IGNORE_FILE = "/.gitignore";

export async function listStore(files: StoreFiles, target: string, signal?: AbortSignal): Promise<LsResult> {
  const listing = await files.list(target);
  signal?.throwIfAborted();
  const result = listFrom(listedMap(listing.files), target);
  if (result.error !== undefined) return result;
  return { files: truthful(result.files, listing), ...skippedIn(listing, target) };
}

export async function globStore(
  files: StoreFiles,
  pattern: string,
  target: string,
  signal?: AbortSignal,
): Promise<GlobResult> {
  const matcher = compileGlob(pattern, target);
  if (matcher.error !== undefined) return matcher;
  const { listing, rules } = await candidates(files, target, matcher.matches);
  signal?.throwIfAborted();
  const result = await globFrom(listedMap(listing.files, rules), pattern, target);
  if (result.error !== undefined) return result;
  return { ...result, files: truthful(result.files, listing), ...skippedIn(listing, target) };
}

export async function grepStore(files: StoreFiles, search: StoreGrep): Promise<GrepResult> {
  const { pattern, target, glob, maxCount, signal } = search;
  if (pattern === "") return grepFrom(listedMap([]), pattern);
  const filter = glob ? compileGlob(glob, target) : undefined;
  if (filter?.error !== undefined) return filter;
  const { listing, rules } = await candidates(files, target, filter?.matches ?? (() => true));
  signal?.throwIfAborted();
  const skipped = [...listing.skipped];
  const result = listing.files.every(({ data }) => data !== undefined)
    ? await grepFrom(listedMap(listing.files, rules), pattern, target, glob, maxCount)
    : await grepChunks(files, listing.files, rules, search, skipped);
  return result.error !== undefined ? result : { ...result, ...skippedIn({ skipped }, target) };
}

async function grepChunks(
  files: StoreFiles,
  listed: readonly ListedFile[],
  rules: ReadonlyMap<string, FoundFile>,
  { pattern, target, glob, maxCount, signal }: StoreGrep,
  skipped: SkippedFile[],
): Promise<GrepResult> {
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const matches: GrepMatch[] = [];
  for (let start = 0; start < listed.length; start += CHUNK) {
    const paths = listed.slice(start, start + CHUNK).map(({ path }) => path);
    const found = await files.getAll(paths, skipped);
    signal?.throwIfAborted();
    const wanted = new Set(paths);
    const map = listedMap([], new Map([...rules, ...found]));
    const part = await grepFrom(map, pattern, target, glob, null);
    if (part.error !== undefined) return part;
    for (const match of part.matches) {
      if (!wanted.has(match.path)) continue;
      if (matches.length === cap) return { matches, truncated: true };
      matches.push(match);
    }
  }
  return { matches };
}

/** The files that a search may find, and the ignore rules in the target and above it. */
async function candidates(
  files: StoreFiles,
  target: string,
  matches: (path: string) => boolean,
): Promise<{ readonly listing: Listing; readonly rules: ReadonlyMap<string, FoundFile> }> {
  const inPlace: string[] = [];
  const listing = await files.list(target, (path) => {
    if (!isWithin(path, target)) return false;
    if (path.endsWith(IGNORE_FILE)) inPlace.push(path);
    return path === target || matches(path);
  });
  const rules = [...inPlace, ...rulesAbove(target)];
  return { listing, rules: rules.length === 0 ? new Map() : await files.getAll(rules, []) };
}

function rulesAbove(target: string): string[] {
  const paths: string[] = [];
  for (let place = target; place !== "/"; ) {
    place = parentPath(place);
    paths.push(place === "/" ? IGNORE_FILE : `${place}${IGNORE_FILE}`);
  }
  return paths;
}

/** The size of a file is unknown if its content was not fetched. */
function truthful(infos: readonly FileInfo[], listing: Listing): FileInfo[] {
  const unread = new Set(listing.files.filter(({ data }) => data === undefined).map(({ path }) => path));
  if (unread.size === 0) return [...infos];
  return infos.map((info) => {
    if (!unread.has(info.path)) return info;
    const { size: _size, ...rest } = info;
    return rest;
  });
}

function skippedIn(listing: Pick<Listing, "skipped">, target: string): { skipped?: SkippedFile[] } {
  const skipped = listing.skipped.filter(({ path }) => isWithin(path, target));
  return skipped.length === 0 ? {} : { skipped };
}
