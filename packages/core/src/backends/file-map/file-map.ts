/** Files as a map from canonical path to data: the form of files in the state and in other maps. */
import { decodeBase64, decodedLength } from "../../text/base64.ts";
import { isTextType, mimeTypeOfBytes, mimeTypeOfText, PLAIN_TEXT } from "../../text/mime.ts";
import { pageOf } from "../../text/page.ts";
import type { AnyFileData, FileData, FileError, FileInfo, ReadRawResult, ReadResult } from "../backend.ts";

export interface FileMap {
  get(path: string): AnyFileData | undefined;
  /** Every path, sorted by code units. The same array while nothing changes. */
  paths(): readonly string[];
  /** Every path, in the order in which the files lie in memory: reading all of them is faster that way. */
  pathsAsKept?(): readonly string[];
  /** Whether any path begins with `prefix`: cheaper than sorting for it. */
  holdsUnder(prefix: string): boolean;
}

/** How text is stored: one string a line, or one string. */
export type FileFormat = "v1" | "v2";

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

/** Directories exist through their files; the root always does. */
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
  return !(data.content instanceof Uint8Array) && isTextType(mimeTypeOf(data));
}

/** The string as stored; an older list of lines is joined. Bytes have none: they are `""`. */
export function storedContent({ content }: AnyFileData): string {
  if (typeof content === "string") return content;
  return content instanceof Uint8Array ? "" : content.join("\n");
}

/** Content of a type that is not text, but is not base64 either, counts as text. */
export function bytesOf(data: AnyFileData): Uint8Array {
  if (data.content instanceof Uint8Array) return data.content;
  const content = storedContent(data);
  return (isText(data) ? undefined : decodeBase64(content)) ?? new TextEncoder().encode(content);
}

/** Bytes as savers keep them: `Buffer` becomes something else in JSON, and a view keeps all of its buffer. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const isPlain = bytes.constructor === Uint8Array && bytes.length === bytes.buffer.byteLength;
  return isPlain ? bytes : new Uint8Array(bytes);
}

const sizes = new WeakMap<AnyFileData, number>();

export function fileInfo(path: string, data: AnyFileData): FileInfo {
  const size = sizes.get(data) ?? sizeOf(data);
  return { path, is_dir: false, size, modified_at: data.modified_at };
}

/** Measured once: files are listed again and again, and data is replaced, never changed. */
function sizeOf(data: AnyFileData): number {
  const size = data.content instanceof Uint8Array ? data.content.length : stringSize(data);
  sizes.set(data, size);
  return size;
}

function stringSize(data: AnyFileData): number {
  const content = storedContent(data);
  return isText(data) ? byteLength(content) : decodedLength(content);
}

/** A page read from a map; `size`, in bytes, stands in where the lines were not counted. */
export function readFrom(files: FileMap, path: string, offset?: number, limit?: number): ReadResult {
  const data = files.get(path);
  if (data === undefined) return missing(files, path);
  if (!isText(data)) return { content: bytesOf(data), mimeType: binaryType(path, data) };
  const content = storedContent(data);
  const page = pageOf(content, offset, limit);
  if (page.error !== undefined) return page;
  const mimeType = mimeTypeOf(data) ?? mimeTypeOfText(path);
  return page.totalLines === undefined
    ? { ...page, mimeType, size: byteLength(content) }
    : { ...page, mimeType };
}

export function readRawFrom(files: FileMap, path: string, format?: FileFormat): ReadRawResult {
  const data = files.get(path);
  if (data === undefined) return missing(files, path);
  if (isText(data)) return { data: format === "v1" ? olderShape(data) : currentShape(data) };
  return { data: { ...(data as FileData), content: bytesOf(data), mimeType: binaryType(path, data) } };
}

/** The data itself, or a copy of older data in the shape of today. */
export function currentShape(data: AnyFileData): FileData {
  if (!Array.isArray(data.content)) return data as FileData;
  return {
    content: storedContent(data),
    mimeType: PLAIN_TEXT,
    created_at: data.created_at,
    modified_at: data.modified_at,
  };
}

/** Text as a list of lines. Bytes stay as they are: the older shape has no place for them. */
export function olderShape(data: AnyFileData): AnyFileData {
  if (!isText(data)) return data;
  const { created_at, modified_at } = data;
  return { content: storedContent(data).split("\n"), created_at, modified_at };
}

/** Ignores a text type in the data, because the content is bytes. */
function binaryType(path: string, data: AnyFileData): string {
  const given = mimeTypeOf(data);
  return given !== undefined && !isTextType(given) ? given : mimeTypeOfBytes(path, bytesOf(data), false);
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
