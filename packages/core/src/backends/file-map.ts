/** Files held as a map from canonical path to data: what the state, and other maps, are made of. */
import { decodeBase64, decodedLength } from "../text/base64.ts";
import { isTextType, PLAIN_TEXT, UNKNOWN_BINARY } from "../text/mime.ts";
import { pageOf } from "../text/page.ts";
import type { AnyFileData, FileData, FileError, FileInfo, ReadRawResult, ReadResult } from "./backend.ts";

export interface FileMap {
  get(path: string): AnyFileData | undefined;
  /** Every path, sorted by code units. The same array while nothing changes. */
  paths(): readonly string[];
  /** Every path, in the order in which the files lie in memory: reading all of them is faster that way. */
  pathsAsKept?(): readonly string[];
  /** Whether any path begins with `prefix`: cheaper than sorting for it. */
  holdsUnder(prefix: string): boolean;
}

const keptKeys = new WeakMap<object, readonly string[]>();
const sortedKeys = new WeakMap<object, readonly string[]>();

function keptPaths(files: Readonly<Record<string, unknown>>): readonly string[] {
  const known = keptKeys.get(files);
  if (known !== undefined) return known;
  const paths = Object.keys(files);
  keptKeys.set(files, paths);
  return paths;
}

/** The paths of a record, sorted once: a record of files is replaced, never changed. */
export function sortedPaths(files: Readonly<Record<string, unknown>>): readonly string[] {
  const known = sortedKeys.get(files);
  if (known !== undefined) return known;
  const paths = Object.keys(files).sort();
  sortedKeys.set(files, paths);
  return paths;
}

/** Own properties only, so that no path reaches `Object.prototype`, where nothing begins with a slash. */
export function fileIn(files: Readonly<Record<string, AnyFileData>>, path: string): AnyFileData | undefined {
  return path.startsWith("/") || Object.hasOwn(files, path) ? files[path] : undefined;
}

export function recordMap(files: Readonly<Record<string, AnyFileData>>): FileMap {
  return {
    get: (path) => fileIn(files, path),
    paths: () => sortedPaths(files),
    pathsAsKept: () => keptPaths(files),
    holdsUnder: (prefix) => somePathUnder(files, prefix),
  };
}

/** Whether a path that `counts` begins with `prefix`. */
export function somePathUnder(
  files: Readonly<Record<string, unknown>>,
  prefix: string,
  counts: (path: string) => boolean = () => true,
): boolean {
  for (const path in files) if (path.startsWith(prefix) && counts(path)) return true;
  return false;
}

/** Directories exist by what lies in them; the root always does. */
export function isDirectory(files: FileMap, path: string): boolean {
  return path === "/" || files.holdsUnder(`${path}/`);
}

/** The index of the first path not less than `target`. */
export function firstAtOrAfter(paths: readonly string[], target: string): number {
  let low = 0;
  let high = paths.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((paths[middle] as string) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function isText(data: AnyFileData): boolean {
  return isTextType(mimeTypeOf(data));
}

/** As stored: text, or base64 of what is not text. The older list of lines is joined. */
export function storedContent(data: AnyFileData): string {
  return typeof data.content === "string" ? data.content : data.content.join("\n");
}

/** Content that claims not to be text but is no base64 either is taken for what it is: text. */
export function bytesOf(data: AnyFileData): Uint8Array {
  const content = storedContent(data);
  return (isText(data) ? undefined : decodeBase64(content)) ?? new TextEncoder().encode(content);
}

const sizes = new WeakMap<AnyFileData, number>();

export function fileInfo(path: string, data: AnyFileData): FileInfo {
  const size = sizes.get(data) ?? sizeOf(data);
  return { path, is_dir: false, size, modified_at: data.modified_at };
}

/** Measured once: files are listed again and again, and data is replaced, never changed. */
function sizeOf(data: AnyFileData): number {
  const content = storedContent(data);
  const size = isText(data) ? byteLength(content) : decodedLength(content);
  sizes.set(data, size);
  return size;
}

/** A page read from a map; `size`, in bytes, stands in where the lines were not counted. */
export function readFrom(files: FileMap, path: string, offset?: number, limit?: number): ReadResult {
  const data = files.get(path);
  if (data === undefined) return missing(files, path);
  if (!isText(data)) return { content: bytesOf(data), mimeType: mimeTypeOf(data) ?? UNKNOWN_BINARY };
  const content = storedContent(data);
  const page = pageOf(content, offset, limit);
  if (page.error !== undefined) return page;
  const mimeType = mimeTypeOf(data) ?? PLAIN_TEXT;
  return page.totalLines === undefined
    ? { ...page, mimeType, size: byteLength(content) }
    : { ...page, mimeType };
}

export function readRawFrom(files: FileMap, path: string): ReadRawResult {
  const data = files.get(path);
  return data === undefined ? missing(files, path) : { data: currentShape(data) };
}

/** The data itself, or a copy of older data in the shape of today. */
export function currentShape(data: AnyFileData): FileData {
  if (typeof data.content === "string") return data as FileData;
  return {
    content: storedContent(data),
    mimeType: PLAIN_TEXT,
    created_at: data.created_at,
    modified_at: data.modified_at,
  };
}

/** Why there is no file at `path`. */
export function missing(files: FileMap, path: string): FileError {
  return isDirectory(files, path)
    ? { error: `'${path}' is a directory`, code: "IS_DIRECTORY" }
    : { error: `File '${path}' not found`, code: "FILE_NOT_FOUND" };
}

export function mimeTypeOf(data: AnyFileData): string | undefined {
  return (data as FileData).mimeType;
}

function byteLength(text: string): number {
  return typeof Buffer === "undefined" ? new TextEncoder().encode(text).length : Buffer.byteLength(text);
}
