/** Listing and searching files together with the changes that lie over them. */
import type {
  BackendProtocol,
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  OperationOptions,
} from "../backend.ts";
import { isDirectory } from "../file-map/file-map.ts";
import { globFrom, grepFrom, listFrom } from "../file-map/file-map-search.ts";
import type { Overlay } from "./preview-overlay.ts";

export interface PreviewGrep {
  readonly pattern: string;
  readonly path: string;
  readonly glob?: string | null;
  readonly maxCount?: number | null;
}

export async function lsPreview(
  inner: BackendProtocol,
  overlay: Overlay,
  path: string,
  options?: OperationOptions,
): Promise<LsResult> {
  const changed = listFrom(overlay.files, path);
  if (changed.error !== undefined) return changed;
  if (overlay.covers(path)) return changed;
  const result = await inner.ls(path, options);
  if (result.error !== undefined) return isDirectory(overlay.files, path) ? changed : result;
  const entries = new Map(changed.files.map((info) => [info.path, info]));
  for (const info of result.files)
    if (!entries.has(info.path) && (await isSeen(inner, overlay, info, options)))
      entries.set(info.path, info);
  return { ...result, files: [...entries.values()].sort(byPath) };
}

/** A directory is seen while something in it is. */
async function isSeen(
  inner: BackendProtocol,
  overlay: Overlay,
  { path, is_dir }: FileInfo,
  options?: OperationOptions,
): Promise<boolean> {
  const name = path.endsWith("/") ? path.slice(0, -1) : path;
  if (overlay.covers(name)) return false;
  if (!is_dir || !overlay.hidesIn(name)) return true;
  const { files } = await inner.ls(name, options);
  for (const info of files ?? []) if (await isSeen(inner, overlay, info, options)) return true;
  return false;
}

export async function globPreview(
  inner: BackendProtocol,
  overlay: Overlay,
  pattern: string,
  path: string,
  options?: OperationOptions,
): Promise<GlobResult> {
  const changed = await globFrom(overlay.files, pattern, path);
  if (changed.error !== undefined || overlay.covers(path)) return changed;
  const result = await inner.glob(pattern, path, options);
  if (result.error !== undefined) return isDirectory(overlay.files, path) ? changed : result;
  const files = result.files.filter((info) => !overlay.covers(info.path));
  return { ...result, files: [...files, ...changed.files].sort(byPath) };
}

/**
 * Matches in changed files must not use up the limit: the inner backend is asked until more matches than the limit are
 * visible.
 */
export async function grepPreview(
  inner: BackendProtocol,
  overlay: Overlay,
  { pattern, path, glob, maxCount }: PreviewGrep,
  options?: OperationOptions,
): Promise<GrepResult> {
  const changed = await grepFrom(overlay.files, pattern, path, glob, maxCount);
  if (changed.error !== undefined || overlay.covers(path)) return changed;
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const hides = overlay.hidesUnder(path);
  for (let wanted = hides ? cap + 1 : cap; ; wanted *= 4) {
    const most = Number.isFinite(wanted) ? wanted : null;
    const result = await inner.grep(pattern, path, glob, most, options);
    if (result.error !== undefined) return isDirectory(overlay.files, path) ? changed : result;
    const seen = result.matches.filter((match) => !overlay.covers(match.path));
    if (hides && result.truncated && !result.timedOut && seen.length <= cap) continue;
    const matches = [...seen, ...changed.matches].sort(byLine);
    const { truncated: _truncated, ...rest } = result;
    const truncated = result.truncated || changed.truncated || matches.length > cap;
    return { ...rest, matches: matches.slice(0, cap), ...(truncated ? { truncated } : {}) };
  }
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

function byLine(one: GrepMatch, other: GrepMatch): number {
  return byPath(one, other) || one.line - other.line;
}
