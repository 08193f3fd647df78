/** Trees of files on disk by the names under which before-images are kept, and putting files back there. */
import { closeSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { DeepwrightError } from "../../errors.ts";
import { canonicalPath } from "../../paths.ts";
import type { FileError } from "../backend.ts";
import { readAll } from "./atomic-write.ts";
import { writeBytes } from "./change-file.ts";
import { deleteAt } from "./delete-tree.ts";
import { systemCode, whyNotPlain } from "./file-errors.ts";
import { ContainedRoot } from "./root/contained-root.ts";
import { isControlPath } from "./root/control-files.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { breathe } from "./time-slices.ts";

const PREFIX = "disk:";

/** Paths begin with `/`, which is the root of the tree. */
export interface UndoTree {
  /** Undefined where there is no file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** `undefined` removes the file; a missing file is no error. */
  write(path: string, content: Uint8Array | undefined): Promise<void>;
  /** Files changed at or after the moment (milliseconds since 1970), sorted; those of git are left out. */
  changedSince(moment: number): Promise<string[]>;
}

/** The name of the tree at `rootDir`, the same through all links. */
export function undoTreeName(rootDir: string): string {
  return undoTreeNameOf(realDirectory(resolve(rootDir)));
}

/** The same for a path that is known to be without links. */
export function undoTreeNameOf(realPath: string): string {
  return PREFIX + realPath;
}

/** Its path without links; unchanged if it does not exist. */
function realDirectory(hostPath: string): string {
  try {
    return realpathSync.native(hostPath);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return hostPath;
  }
}

/**
 * Undefined for a place that is not on disk. Links that lead out of it are refused, and so are files that steer
 * other programs: what is to be put back may come from a thread that somebody else made.
 */
export function openUndoTree(place: string): UndoTree | undefined {
  if (!place.startsWith(PREFIX)) return undefined;
  const root = new ContainedRoot(place.slice(PREFIX.length));
  return {
    read: async (path) => {
      const refused = await refuse(path);
      if (refused !== undefined) throw failure(refused);
      return readFile(root, path);
    },
    write: async (path, content) => {
      const request = { root, path, refuse };
      const result = await (content === undefined
        ? deleteAt(request, false)
        : writeBytes(request, content, true));
      if (result.error !== undefined && !(content === undefined && result.code === "FILE_NOT_FOUND"))
        throw failure(result);
    },
    changedSince: (moment) => changedSince(root, moment),
  };
}

async function refuse(path: string): Promise<FileError | undefined> {
  const canonical = canonicalPath(path);
  if (canonical.error !== undefined) return canonical;
  if (canonical.path !== path) return { error: `Path is not canonical: ${path}`, code: "INVALID_PATH" };
  if (!isControlPath(path)) return undefined;
  return { error: `'${path}' steers other programs`, code: "APPROVAL_REQUIRED" };
}

async function readFile(root: ContainedRoot, path: string): Promise<Buffer | undefined> {
  const opened = root.openFile(path);
  if ("error" in opened) {
    if (opened.code === "FILE_NOT_FOUND") return undefined;
    throw failure(opened);
  }
  try {
    const unusable = whyNotPlain(opened.stats, path);
    if (unusable !== undefined) throw failure(unusable);
    return await readAll(opened.fd, opened.stats.size);
  } finally {
    closeSync(opened.fd);
  }
}

async function changedSince(root: ContainedRoot, moment: number): Promise<string[]> {
  const found: string[] = [];
  const pending = ["/"];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    await breathe();
    const opened = root.openDirectory(path);
    if ("error" in opened) continue;
    try {
      await collectChanged(opened.directory, path === "/" ? "/" : `${path}/`, moment, found, pending);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    } finally {
      opened.directory.close();
    }
  }
  return found.sort();
}

async function collectChanged(
  directory: OpenDirectory,
  prefix: string,
  moment: number,
  found: string[],
  pending: string[],
): Promise<void> {
  for (const entries of directory.entryParts()) {
    await breathe();
    for (const entry of entries) {
      const path = prefix + entry.name;
      if (entry.isDirectory() && entry.name !== ".git") pending.push(path);
      if (entry.isFile() && isChanged(directory, entry.name, moment)) found.push(path.normalize("NFC"));
    }
  }
}

function isChanged(directory: OpenDirectory, name: string, moment: number): boolean {
  try {
    const { mtimeMs, ctimeMs } = directory.lstat(name);
    return Math.max(mtimeMs, ctimeMs) >= moment;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

function failure({ error, code }: FileError): DeepwrightError {
  return new DeepwrightError("STORAGE_UNAVAILABLE", `${error} (${code}).`);
}
