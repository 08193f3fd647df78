/** Items fetched from a store, as the map of files that the common operations work on. */
import type { AnyFileData, FileData, FilesUpdate } from "../backend.ts";
import type { FileMap } from "../file-map/file-map.ts";
import type { FoundFile, ListedFile } from "./store-files.ts";

export interface FoundMap extends FileMap {
  /** Counts these in, as if they had been found. */
  add(update: FilesUpdate): void;
}

/** Single files, and directories that are only known to exist. */
export function foundMap(found: ReadonlyMap<string, FoundFile>, ...directories: readonly string[]): FoundMap {
  const files = new Map<string, AnyFileData>();
  for (const [path, { data }] of found) files.set(path, data);
  return {
    get: (path) => files.get(path),
    paths: () => [...files.keys()].sort(),
    holdsUnder: (prefix) =>
      directories.some((directory) => directory === "/" || `${directory}/`.startsWith(prefix)) ||
      [...files.keys()].some((path) => path.startsWith(prefix)),
    add: (update) => {
      for (const [path, data] of Object.entries(update)) files.set(path, data as FileData);
    },
  };
}

export const emptyMap: FileMap = foundMap(new Map());

/** Files without data are known by path only: they look empty here. */
export function listedMap(
  listed: readonly ListedFile[],
  more: ReadonlyMap<string, FoundFile> = new Map(),
): FileMap {
  const files = new Map<string, AnyFileData>();
  for (const { path, data, modified_at } of listed)
    files.set(path, data ?? { content: "", created_at: modified_at, modified_at });
  for (const [path, { data }] of more) files.set(path, data);
  const paths = more.size === 0 ? listed.map(({ path }) => path) : [...files.keys()].sort();
  return {
    get: (path) => files.get(path),
    paths: () => paths,
    holdsUnder: (prefix) => paths.some((path) => path.startsWith(prefix)),
  };
}
