/** Listing and searching across mounts: all in parallel, without hidden files, sorted as one. */
import { isWithin } from "../../paths.ts";
import { compileGlob } from "../../text/glob/glob-match.ts";
import type {
  FileError,
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  OperationOptions,
  SkippedFile,
} from "../backend.ts";
import { globBelow } from "./composite-glob.ts";
import {
  innerOptions,
  innerPath,
  type Mount,
  mountOf,
  mountsBelow,
  outerError,
  outerPath,
} from "./composite-routes.ts";

export interface GrepQuery {
  readonly pattern: string;
  readonly glob?: string | null;
  readonly maxCount?: number | null;
}

/** One part of a search: where to ask, and with which glob. */
interface Part {
  readonly mount: Mount;
  readonly path: string;
  readonly glob: string | undefined;
}

interface PartResult<Entry> {
  readonly entries: readonly Entry[];
  readonly truncated?: boolean;
  readonly timedOut?: boolean;
  readonly skipped?: readonly SkippedFile[];
}

export async function lsMounts(
  mounts: readonly Mount[],
  path: string,
  options?: OperationOptions,
): Promise<LsResult> {
  const mount = mountOf(mounts, path);
  const below = mountsBelow(mounts, path);
  const result = await mount.backend.ls(innerPath(mount, path), innerOptions(mount, options));
  if (result.error !== undefined && !(below.length > 0 && isAbsent(result)))
    return outerError(mount, path, result);
  const entries = new Map<string, FileInfo>();
  for (const info of result.files ?? []) {
    const outer = { ...info, path: outerPath(mount, info.path) };
    if (isVisible(mounts, mount, outer.path)) entries.set(nameOf(outer.path), outer);
  }
  for (const { prefix } of below) {
    const start = path === "/" ? 1 : path.length + 1;
    const end = prefix.indexOf("/", start);
    const directory = end === -1 ? prefix : prefix.slice(0, end);
    if (entries.get(directory)?.is_dir !== true)
      entries.set(directory, { path: `${directory}/`, is_dir: true });
  }
  const skipped = skippedOutside(mounts, mount, result.error === undefined ? result.skipped : undefined);
  return { files: [...entries.values()].sort(byPath), ...(skipped.length > 0 ? { skipped } : {}) };
}

export async function globMounts(
  mounts: readonly Mount[],
  pattern: string,
  path: string,
  options?: OperationOptions,
): Promise<GlobResult> {
  const checked = compileGlob(pattern, path);
  if (checked.error !== undefined) return checked;
  const results = await askAll(mounts, path, pattern, async ({ mount, path: place, glob }) => {
    const result = await mount.backend.glob(
      glob ?? pattern,
      innerPath(mount, place),
      innerOptions(mount, options),
    );
    if (result.error !== undefined) return result;
    const entries = result.files.map((info) => ({ ...info, path: outerPath(mount, info.path) }));
    return { ...result, entries: entries.filter((info) => isVisible(mounts, mount, info.path)) };
  });
  if ("error" in results) return results;
  return { files: results.flatMap(({ entries }) => entries).sort(byPath), ...flagsOf(results) };
}

export async function grepMounts(
  mounts: readonly Mount[],
  query: GrepQuery,
  path: string,
  options?: OperationOptions,
): Promise<GrepResult> {
  const { maxCount, glob } = query;
  const checked = glob ? compileGlob(glob, path) : undefined;
  if (checked?.error !== undefined) return checked;
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const results = await askAll(mounts, path, glob || undefined, (part) =>
    grepPart(mounts, part, query.pattern, cap, options),
  );
  if ("error" in results) return results;
  const matches = results.flatMap(({ entries }) => entries).sort(byLine);
  const flags = flagsOf(results);
  return matches.length > cap
    ? { matches: matches.slice(0, cap), ...flags, truncated: true }
    : { matches, ...flags };
}

/** Matches hidden by a mount must not use up the cap, so the backend is asked again until enough are visible. */
async function grepPart(
  mounts: readonly Mount[],
  { mount, path, glob }: Part,
  pattern: string,
  cap: number,
  options?: OperationOptions,
): Promise<PartResult<GrepMatch> | FileError> {
  const hides = mountsBelow(mounts, path).length > 0;
  for (let wanted = hides ? cap + 1 : cap; ; wanted *= 4) {
    const most = Number.isFinite(wanted) ? wanted : null;
    const result = await mount.backend.grep(
      pattern,
      innerPath(mount, path),
      glob,
      most,
      innerOptions(mount, options),
    );
    if (result.error !== undefined) return result;
    const all = result.matches.map((match) => ({ ...match, path: outerPath(mount, match.path) }));
    const entries = all.filter((match) => isVisible(mounts, mount, match.path));
    if (!hides || !result.truncated || result.timedOut || entries.length > cap) return { ...result, entries };
  }
}

/** Asks the mount that `path` is in, then the mounts below it. The first failure is the whole result. */
async function askAll<Entry>(
  mounts: readonly Mount[],
  path: string,
  glob: string | undefined,
  ask: (part: Part) => Promise<PartResult<Entry> | FileError>,
): Promise<readonly PartResult<Entry>[] | FileError> {
  const results = await Promise.all(partsOf(mounts, path, glob).map((part) => answer(part, ask)));
  const isOnTheWay = mountsBelow(mounts, path).length > 0;
  const visible: PartResult<Entry>[] = [];
  for (const { part, result } of results) {
    if (!("error" in result) || result.error === undefined) visible.push(result as PartResult<Entry>);
    else if (part.path !== path || !isOnTheWay || !isAbsent(result))
      return outerError(part.mount, part.path, result);
  }
  return visible;
}

async function answer<Entry>(
  part: Part,
  ask: (part: Part) => Promise<PartResult<Entry> | FileError>,
): Promise<{ readonly part: Part; readonly result: PartResult<Entry> | FileError }> {
  const result = await ask(part);
  if ("error" in result && result.error !== undefined) return { part, result };
  const { skipped, ...rest } = result as PartResult<Entry>;
  const outer = (skipped ?? []).map((file) => ({ ...file, path: outerPath(part.mount, file.path) }));
  return { part, result: { ...rest, skipped: outer } };
}

/** Asks no mount in which the glob cannot match. */
function partsOf(mounts: readonly Mount[], path: string, glob: string | undefined): Part[] {
  const own = mountOf(mounts, path);
  const parts: Part[] = [];
  if (glob === undefined || !glob.startsWith("/") || own.prefix === own.root)
    parts.push({ mount: own, path, glob });
  else {
    const inside = globBelow(glob, namesTo(own, "/"), own.root);
    if (inside !== undefined) parts.push({ mount: own, path, glob: inside });
  }
  for (const mount of mountsBelow(mounts, path)) {
    const base = glob?.startsWith("/") ? "/" : path;
    const rest = glob === undefined ? undefined : globBelow(glob, namesTo(mount, base), mount.root);
    if (glob === undefined || rest !== undefined) parts.push({ mount, path: mount.prefix, glob: rest });
  }
  return parts;
}

function namesTo({ prefix }: Mount, base: string): string[] {
  return prefix.slice(base === "/" ? 1 : base.length + 1).split("/");
}

/** Whether no other mount covers this path of a backend. */
function isVisible(mounts: readonly Mount[], mount: Mount, path: string): boolean {
  return mountOf(mounts, nameOf(path)) === mount;
}

function nameOf(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A directory that exists only as the way to a mount is no failure of the backend that has not got it. */
function isAbsent({ code }: FileError): boolean {
  return code === "FILE_NOT_FOUND" || code === "NOT_A_DIRECTORY";
}

function skippedOutside(
  mounts: readonly Mount[],
  mount: Mount,
  skipped: readonly SkippedFile[] = [],
): SkippedFile[] {
  return skipped
    .map((file) => ({ ...file, path: outerPath(mount, file.path) }))
    .filter((file) => isVisible(mounts, mount, file.path));
}

function flagsOf(results: readonly PartResult<unknown>[]) {
  const skipped = results.flatMap((result) => result.skipped ?? []).sort(byPath);
  return {
    ...(results.some(({ truncated }) => truncated) ? { truncated: true } : {}),
    ...(results.some(({ timedOut }) => timedOut) ? { timedOut: true } : {}),
    ...(skipped.length > 0 ? { skipped } : {}),
  };
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

function byLine(one: GrepMatch, other: GrepMatch): number {
  return byPath(one, other) || one.line - other.line;
}

/** Whether `path` is where something is mounted, or on the way there. */
export function leadsToMount(mounts: readonly Mount[], path: string): boolean {
  return mounts.some(({ prefix }) => isWithin(prefix, path));
}
