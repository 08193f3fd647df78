/** Copies a directory: links stay links, and nothing outside it is read, whatever is swapped for a link meanwhile. */
import {
  chmodSync,
  closeSync,
  constants as flagsOf,
  fstatSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { DeepwrightError } from "../../../errors.ts";
import { systemCode } from "../file-errors.ts";
import { OpenDirectory } from "../root/open-directory.ts";
import { breathe } from "../time-slices.ts";
import { isPassing } from "./snapshot-policy.ts";

export interface CopyTreeOptions {
  readonly signal?: AbortSignal | undefined;
  /** A larger directory throws `VALUE_TOO_LARGE`. Default: 10 GiB. */
  readonly mostBytes?: number;
}

const MOST_BYTES = 10 * 1024 ** 3;
const GIBIBYTE = 1024 ** 3;
const MODE = 0o7777;

interface Copying extends CopyTreeOptions {
  readonly mostBytes: number;
  readonly left: string[];
  bytes: number;
}

/**
 * `to` must not exist. File systems that can share content between files do. Returns the paths that were left out:
 * pipes, sockets, devices, names that are not UTF-8, and what may not be read.
 */
export async function copyTree(
  from: string,
  to: string,
  { signal, mostBytes = MOST_BYTES }: CopyTreeOptions = {},
): Promise<readonly string[]> {
  const copying: Copying = { signal, mostBytes, left: [], bytes: 0 };
  const root = OpenDirectory.openRoot(from);
  try {
    await copyDirectory(root, to, "", copying);
  } finally {
    root.close();
  }
  return copying.left;
}

async function copyDirectory(
  directory: OpenDirectory,
  to: string,
  prefix: string,
  copying: Copying,
): Promise<void> {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of directory.entries()) {
    await breathe(copying.signal);
    const { name } = entry;
    const [path, target] = [`${prefix}/${name}`, `${to}/${name}`];
    if (isPassing(name)) continue;
    try {
      if (entry.isSymbolicLink()) symlinkSync(directory.readLink(name), target);
      else if (entry.isFile()) await copyOne(directory, name, target, copying);
      else if (entry.isDirectory()) await copyChild(directory, name, target, path, copying);
      else copying.left.push(path);
    } catch (error) {
      // The entry has gone, is another one now, or may not be read.
      if (!SKIPPED.has(systemCode(error) ?? "")) throw error;
      copying.left.push(path);
    }
  }
  chmodSync(to, directory.lstat(".").mode & MODE);
}

const SKIPPED = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM"]);

async function copyChild(
  directory: OpenDirectory,
  name: string,
  target: string,
  path: string,
  copying: Copying,
): Promise<void> {
  const child = directory.child(name);
  try {
    await copyDirectory(child, target, path, copying);
  } finally {
    child.close();
  }
}

async function copyOne(
  directory: OpenDirectory,
  name: string,
  target: string,
  copying: Copying,
): Promise<void> {
  const descriptor = directory.openFile(name);
  try {
    const stats = fstatSync(descriptor);
    copying.bytes += stats.size;
    if (copying.bytes > copying.mostBytes)
      throw new DeepwrightError(
        "VALUE_TOO_LARGE",
        `The directory has more than ${Math.round(copying.mostBytes / GIBIBYTE)} GiB, so it is not copied.`,
      );
    const source = directory.strategy === "descriptor" ? `/proc/self/fd/${descriptor}` : directory.path(name);
    await copyFile(source, target, flagsOf.COPYFILE_FICLONE | flagsOf.COPYFILE_EXCL);
    chmodSync(target, stats.mode & MODE);
    utimesSync(target, stats.atime, stats.mtime);
  } finally {
    closeSync(descriptor);
  }
}
