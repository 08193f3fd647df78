/** Files of a place that has only primitives, fetched as far as an operation needs them. */
import { canonicalPath, isWithin, parentPath } from "../../paths.ts";
import { decodeText, mimeTypeOfBytes } from "../../text/mime.ts";
import type { FileData, FileInfo, OperationOptions, SkippedFile } from "../backend.ts";
import type { FileMap } from "../file-map/file-map.ts";
import type { FetchedFile, FilePrimitives, ListOptions } from "./file-primitives.ts";

export interface PrimitiveListing {
  /** Sorted by path. */
  readonly files: readonly FileInfo[];
  readonly skipped: readonly SkippedFile[];
}

/** Fetched files, and directories that are only known to exist. */
export class FetchedFiles implements FileMap {
  readonly #files = new Map<string, FileData>();
  readonly #directories: string[] = [];

  get(path: string): FileData | undefined {
    return this.#files.get(path);
  }

  paths(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  holdsUnder(prefix: string): boolean {
    return [...this.#directories, ...this.#files.keys()].some((path) => path.startsWith(prefix));
  }

  add(path: string, data: FileData): void {
    this.#files.set(path, data);
  }

  addDirectory(path: string): void {
    this.#directories.push(`${path}/`);
  }
}

/** Requests that are on their way at once. */
const PARALLEL = 16;

export async function listPrimitives(
  primitives: FilePrimitives,
  directory: string,
  options: ListOptions,
): Promise<PrimitiveListing> {
  const files: FileInfo[] = [];
  const skipped: SkippedFile[] = [];
  for await (const info of await primitives.list(directory === "/" ? "/" : `${directory}/`, options)) {
    options.signal?.throwIfAborted();
    const name = info.is_dir ? info.path.replace(/\/$/, "") : info.path;
    if (canonicalPath(name).path !== name) skipped.push({ path: info.path, code: "INVALID_PATH" });
    else if (isWithin(name, directory) && name !== directory) files.push(info);
  }
  return { files: files.sort(byPath), skipped };
}

/** Results in the order of `values`, a few on their way at once. */
export async function eachOf<Value, Result>(
  values: readonly Value[],
  act: (value: Value) => Promise<Result> | Result,
  parallel = PARALLEL,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < values.length; start += parallel)
    for (const result of await Promise.all(values.slice(start, start + parallel).map(act)))
      results.push(result);
  return results;
}

/** Files of `paths` that exist, in any order. */
export async function fetchAll(
  primitives: FilePrimitives,
  paths: readonly string[],
  options: OperationOptions,
): Promise<Map<string, FetchedFile>> {
  const found = new Map<string, FetchedFile>();
  await eachOf(paths, async (path) => {
    options.signal?.throwIfAborted();
    const file = await primitives.get(path, options);
    if (file) found.set(path, file);
  });
  options.signal?.throwIfAborted();
  return found;
}

/** The file at `path`, or the reason why there is none: it may be a directory. */
export async function fetchOne(
  primitives: FilePrimitives,
  path: string,
  options: OperationOptions,
): Promise<FetchedFiles> {
  const files = new FetchedFiles();
  const file = path === "/" ? undefined : await primitives.get(path, options);
  if (file !== undefined) files.add(path, dataOf(path, file));
  else if (path !== "/" && (await isDirectory(primitives, path, options))) files.addDirectory(path);
  options.signal?.throwIfAborted();
  return files;
}

export async function isDirectory(
  primitives: FilePrimitives,
  path: string,
  options: OperationOptions,
): Promise<boolean> {
  for await (const _entry of await primitives.list(`${path}/`, { ...options, shallow: true })) return true;
  return false;
}

/** The files that lie above `path`, where only directories should be. */
export async function fetchParents(
  primitives: FilePrimitives,
  path: string,
  options: OperationOptions,
): Promise<Map<string, FetchedFile>> {
  const parents: string[] = [];
  for (let parent = parentPath(path); parent !== "/"; parent = parentPath(parent)) parents.push(parent);
  return fetchAll(primitives, parents, options);
}

export function dataOf(path: string, file: FetchedFile): FileData {
  const text = decodeText(file.bytes);
  const modified_at = file.modified_at ?? new Date(0).toISOString();
  return {
    content: text ?? file.bytes,
    mimeType: mimeTypeOfBytes(path, file.bytes, text !== undefined),
    created_at: file.created_at ?? modified_at,
    modified_at,
  };
}

function byPath(one: FileInfo, other: FileInfo): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
