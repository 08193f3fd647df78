/** Listing and searching a place: nothing is fetched that cannot be part of the answer. */
import { parentPath } from "../../paths.ts";
import { compileGlob } from "../../text/glob/glob-match.ts";
import type {
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  OperationOptions,
  SkippedFile,
} from "../backend.ts";
import { globFrom, grepFrom, listFrom } from "../file-map/file-map-search.ts";
import type { FilePrimitives } from "./file-primitives.ts";
import {
  dataOf,
  FetchedFiles,
  fetchAll,
  fetchOne,
  listPrimitives,
  type PrimitiveListing,
} from "./primitive-files.ts";

export interface PrimitiveGrep {
  readonly pattern: string;
  readonly target: string;
  readonly glob?: string | null;
  readonly maxCount?: number | null;
}

/** Files fetched by a grep before it looks whether it has enough. */
const CHUNK = 64;
const IGNORE_FILE = ".gitignore";

export async function lsPrimitives(
  primitives: FilePrimitives,
  target: string,
  options: OperationOptions,
): Promise<LsResult> {
  const listing = await listPrimitives(primitives, target, { ...options, shallow: true });
  if (listing.files.length === 0 && target !== "/")
    return listFrom(await fetchOne(primitives, target, options), target);
  const prefix = target === "/" ? "/" : `${target}/`;
  const entries = new Map<string, FileInfo>();
  for (const info of listing.files) {
    const slash = info.path.indexOf("/", prefix.length);
    const path =
      info.is_dir || slash !== -1 ? info.path.slice(0, slash === -1 ? undefined : slash) : undefined;
    if (path === undefined) entries.set(info.path, { is_dir: false, ...info });
    else entries.set(`${path}/`, { path: `${path}/`, is_dir: true });
  }
  const files = [...entries.keys()].sort().map((path) => entries.get(path) as FileInfo);
  return { files, ...reported(listing.skipped) };
}

export async function globPrimitives(
  primitives: FilePrimitives,
  pattern: string,
  target: string,
  options: OperationOptions,
): Promise<GlobResult> {
  const matcher = compileGlob(pattern, target);
  if (matcher.error !== undefined) return matcher;
  const listing = await listPrimitives(primitives, target, options);
  if (listing.files.length === 0)
    return globFrom(await fetchOne(primitives, target, options), pattern, target);
  const result = await globFrom(await namesOf(primitives, listing, target, options), pattern, target);
  if (result.error !== undefined) return result;
  return { ...result, files: infosOf(listing, result.files), ...reported(listing.skipped) };
}

export async function grepPrimitives(
  primitives: FilePrimitives,
  search: PrimitiveGrep,
  options: OperationOptions,
): Promise<GrepResult> {
  const { pattern, target, glob, maxCount } = search;
  if (pattern === "") return grepFrom(new FetchedFiles(), pattern);
  const filter = glob ? compileGlob(glob, target) : undefined;
  if (filter?.error !== undefined) return filter;
  const listing = await listPrimitives(primitives, target, options);
  if (listing.files.length === 0)
    return grepFrom(await fetchOne(primitives, target, options), pattern, target, glob, maxCount);
  const names = await namesOf(primitives, listing, target, options);
  const visible = await globFrom(names, "**", target);
  if (visible.error !== undefined) return visible;
  const paths = visible.files.map(({ path }) => path).filter((path) => filter?.matches(path) ?? true);
  const result = await grepChunks(primitives, paths, search, options);
  return result.error === undefined ? { ...result, ...reported(listing.skipped) } : result;
}

/** In the order of paths, so that one may stop as soon as there is one match more than asked for. */
async function grepChunks(
  primitives: FilePrimitives,
  paths: readonly string[],
  { pattern, target, maxCount }: PrimitiveGrep,
  options: OperationOptions,
): Promise<GrepResult> {
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const matches: GrepMatch[] = [];
  for (let start = 0; start < paths.length; start += CHUNK) {
    const files = new FetchedFiles();
    for (const [path, file] of await fetchAll(primitives, paths.slice(start, start + CHUNK), options))
      files.add(path, dataOf(path, file));
    const left = cap - matches.length + 1;
    const part = await grepFrom(files, pattern, target, null, Number.isFinite(left) ? left : null);
    if (part.error !== undefined) return part;
    for (const match of part.matches) {
      if (matches.length === cap) return { matches, truncated: true };
      matches.push(match);
    }
  }
  return { matches };
}

/** Every name. Content is fetched only for ignore files, below the target and above it. */
async function namesOf(
  primitives: FilePrimitives,
  listing: PrimitiveListing,
  target: string,
  options: OperationOptions,
): Promise<FetchedFiles> {
  const names = new FetchedFiles();
  const rules: string[] = [];
  for (const { path, modified_at = "", is_dir } of listing.files) {
    if (is_dir) continue;
    names.add(path, { content: "", created_at: modified_at, modified_at });
    if (path.endsWith(`/${IGNORE_FILE}`)) rules.push(path);
  }
  for (let above = target; above !== "/"; ) {
    above = parentPath(above);
    rules.push(above === "/" ? `/${IGNORE_FILE}` : `${above}/${IGNORE_FILE}`);
  }
  for (const [path, file] of await fetchAll(primitives, rules, options)) names.add(path, dataOf(path, file));
  return names;
}

/** Adds sizes and times of the listing to the found names. */
function infosOf(listing: PrimitiveListing, found: readonly FileInfo[]): FileInfo[] {
  const known = new Map(listing.files.map((info) => [info.path, info]));
  return found.map(({ path }) => ({ is_dir: false, ...known.get(path), path }));
}

function reported(skipped: readonly SkippedFile[]): { skipped?: SkippedFile[] } {
  return skipped.length === 0 ? {} : { skipped: [...skipped] };
}
