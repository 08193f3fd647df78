/**
 * A directory whose entries are read and put back one by one, by their exact names.
 *
 * Every directory on the way is opened through the one above it, and no link is followed. So nothing outside the
 * root is read or written, whatever is swapped for a link meanwhile.
 */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  fchmodSync,
  constants as flagsOf,
  fstatSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { DeepwrightError } from "../../../errors.ts";
import { decodeText } from "../../../text/mime.ts";
import { createFile, readAll, replaceFile } from "../atomic-write.ts";
import { systemCode } from "../file-errors.ts";
import { isControlPath } from "../root/control-files.ts";
import { OpenDirectory } from "../root/open-directory.ts";
import { isKeyFile, SNAPSHOT_LIMITS } from "./snapshot-policy.ts";
import type { NotKeptReason, TreeEntry } from "./tree-entry.ts";

const MODE = 0o7777;
/** Bits that lend a program its owner's rights are never put back. */
export const RESTORED_MODE = 0o1777;
/** Linux, the same on every architecture Node is built for. */
const O_PATH = 0o10000000;

/** The entry at a path at one moment. */
export interface FoundEntry {
  readonly entry: TreeEntry | undefined;
  /** Tells a later state of the same file from this one. */
  readonly stats: BigIntStats | undefined;
}

export class WorkTree {
  constructor(
    readonly hostPath: string,
    /** A larger file is not kept. */
    readonly fileBytes: number = SNAPSHOT_LIMITS.fileBytes,
  ) {}

  open(): OpenDirectory {
    return OpenDirectory.openRoot(this.hostPath);
  }

  /** The entry at `path`, which begins with `/`. A path through a link or a file leads to nothing. */
  async read(path: string): Promise<FoundEntry> {
    const nothing: FoundEntry = { entry: undefined, stats: undefined };
    return (
      (await this.#in(path, false, (directory, name) => readEntry(directory, name, path, this.fileBytes))) ??
      nothing
    );
  }

  /** Tells a file that was moved from a new one. Undefined: there is nothing. */
  async inodeOf(path: string): Promise<bigint | undefined> {
    return this.#in(
      path,
      false,
      async (directory, name) =>
        lstatSync(directory.path(name), { bigint: true, throwIfNoEntry: false })?.ino,
    );
  }

  /** Names in the directory at `path`; none where it cannot be listed. */
  async namesIn(path: string): Promise<readonly string[]> {
    const names = await this.#in(path, false, async (directory, name) => listed(directory, name));
    return names ?? [];
  }

  /** Throws for a file that steers other programs: what is put back may come from a thread that somebody else made. */
  checkRestorable(path: string): void {
    if (isControlPath(path))
      throw new DeepwrightError("INVALID_INPUT", `'${path}' steers other programs and is not put back.`);
  }

  /**
   * Puts `wanted` where `found` is; missing directories are made. False, with nothing changed, when something else is
   * there by now, or a directory is not empty. Directories get their mode from `setMode`.
   */
  async put(path: string, found: FoundEntry, wanted: TreeEntry | undefined): Promise<boolean> {
    this.checkRestorable(path);
    const isDone = await this.#in(path, wanted !== undefined, (directory, name) =>
      putEntry(directory, name, found, wanted),
    );
    return isDone ?? wanted === undefined;
  }

  /** False where no file or directory is there. */
  async setMode(path: string, mode: number): Promise<boolean> {
    this.checkRestorable(path);
    return (
      (await this.#in(path, false, async (directory, name) => changeMode(directory, name, mode))) ?? false
    );
  }

  /** Undefined where a directory on the way is missing, or is no directory. */
  async #in<Result>(
    path: string,
    create: boolean,
    act: (directory: OpenDirectory, name: string) => Promise<Result>,
  ): Promise<Result | undefined> {
    const names = namesOf(path);
    const last = names.pop() as string;
    let directory = this.open();
    try {
      for (const name of names) {
        const child = childOf(directory, name, create);
        if (child === undefined) return undefined;
        directory.close();
        directory = child;
      }
      return await act(directory, last);
    } finally {
      directory.close();
    }
  }
}

function listed(directory: OpenDirectory, name: string): string[] {
  let child: OpenDirectory | undefined;
  try {
    child = directory.child(name);
    return child.entries().map((entry) => entry.name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  } finally {
    child?.close();
  }
}

function namesOf(path: string): string[] {
  const names = path.split("/").slice(1);
  const isSafe = names.length > 0 && names.every((name) => name !== "" && name !== "." && name !== "..");
  if (path.startsWith("/") && isSafe && !path.includes("\0")) return names;
  throw new DeepwrightError(
    "INVALID_INPUT",
    `A path of a snapshot must begin with '/' and have no '..': ${path}`,
  );
}

function childOf(directory: OpenDirectory, name: string, create: boolean): OpenDirectory | undefined {
  try {
    return directory.child(name);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" && create) {
      mkdirSync(directory.path(name));
      return directory.child(name);
    }
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw error;
  }
}

async function readEntry(
  directory: OpenDirectory,
  name: string,
  path: string,
  fileBytes: number,
): Promise<FoundEntry> {
  const stats = lstatSync(directory.path(name), { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { entry: undefined, stats };
  if (stats.isSymbolicLink())
    return { entry: { type: "symlink", target: readlinkSync(directory.path(name)) }, stats };
  if (stats.isDirectory()) return { entry: { type: "directory", mode: Number(stats.mode) & MODE }, stats };
  if (!stats.isFile()) return { entry: notKept("special", stats), stats };
  if (isKeyFile(path)) return { entry: notKept("key", stats), stats };
  if (stats.size > fileBytes) return { entry: notKept("large", stats), stats };
  try {
    return await readFile(directory, name, fileBytes);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return { entry: undefined, stats: undefined };
    if (code === "EACCES" || code === "EPERM") return { entry: notKept("unreadable", stats), stats };
    if (code === "ELOOP" || code === "ENXIO") return { entry: notKept("special", stats), stats };
    throw error;
  }
}

async function readFile(directory: OpenDirectory, name: string, fileBytes: number): Promise<FoundEntry> {
  const descriptor = directory.openFile(name);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) return { entry: notKept("special", stats), stats };
    if (stats.size > fileBytes) return { entry: notKept("large", stats), stats };
    const bytes = await readAll(descriptor, Number(stats.size), { limit: fileBytes + 1 });
    if (bytes.length > fileBytes) return { entry: notKept("large", stats), stats };
    const content = decodeText(bytes) ?? new Uint8Array(bytes);
    return { entry: { type: "file", mode: Number(stats.mode) & MODE, content }, stats };
  } finally {
    closeSync(descriptor);
  }
}

type FactsOfMark = Pick<Stats | BigIntStats, "size" | "mtimeMs" | "ino" | "mode">;

export function notKept(reason: NotKeptReason, { size, mtimeMs, ino, mode }: FactsOfMark): TreeEntry {
  return { type: "not-kept", reason, size: Number(size), mark: `${ino}:${size}:${mtimeMs}:${mode}` };
}

async function putEntry(
  directory: OpenDirectory,
  name: string,
  found: FoundEntry,
  wanted: TreeEntry | undefined,
): Promise<boolean> {
  const { stats } = found;
  if (wanted?.type === "not-kept") return false;
  if (!isStill(directory, name, stats)) return false;
  if (wanted?.type === "file" && found.entry?.type === "file")
    return replace(directory, name, found.entry, stats, wanted);
  if (wanted?.type === "directory" && stats?.isDirectory()) return true;
  if (stats !== undefined && !remove(directory, name, stats)) return false;
  if (wanted?.type === "file") await create(directory, name, wanted);
  else if (wanted?.type === "symlink") symlinkSync(wanted.target, directory.path(name));
  else if (wanted?.type === "directory") mkdirSync(directory.path(name));
  return true;
}

type FileEntry = Extract<TreeEntry, { type: "file" }>;

async function replace(
  directory: OpenDirectory,
  name: string,
  current: FileEntry,
  stats: BigIntStats | undefined,
  wanted: FileEntry,
): Promise<boolean> {
  const mode = wanted.mode ?? current.mode;
  const isSame = Buffer.compare(Buffer.from(current.content), Buffer.from(wanted.content)) === 0;
  if (!isSame && stats !== undefined) {
    const like = Object.assign(Object.create(Object.getPrototypeOf(stats)), stats) as BigIntStats;
    if (mode !== undefined) like.mode = BigInt(mode & RESTORED_MODE);
    return replaceFile(directory, name, [Buffer.from(wanted.content)], like);
  }
  return mode === undefined || mode === current.mode || changeMode(directory, name, mode);
}

async function create(directory: OpenDirectory, name: string, { content, mode }: FileEntry): Promise<void> {
  await createFile(directory, name, [Buffer.from(content)]);
  if (mode !== undefined) changeMode(directory, name, mode);
}

/** A directory goes only when it is empty. */
function remove(directory: OpenDirectory, name: string, stats: BigIntStats): boolean {
  if (!stats.isDirectory()) {
    unlinkSync(directory.path(name));
    return true;
  }
  try {
    rmdirSync(directory.path(name));
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOTEMPTY" || systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isStill(directory: OpenDirectory, name: string, stats: BigIntStats | undefined): boolean {
  const now = lstatSync(directory.path(name), { bigint: true, throwIfNoEntry: false });
  if (now === undefined || stats === undefined) return now === stats;
  if (now.isDirectory()) return stats.isDirectory() && now.ino === stats.ino;
  return (
    now.ino === stats.ino &&
    now.size === stats.size &&
    now.mtimeNs === stats.mtimeNs &&
    now.ctimeNs === stats.ctimeNs
  );
}

/** Never of what a link leads to. */
function changeMode(directory: OpenDirectory, name: string, mode: number): boolean {
  const isHeld = directory.strategy === "descriptor";
  let descriptor: number;
  try {
    descriptor = directory.openFile(name, isHeld ? O_PATH : flagsOf.O_RDONLY);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ELOOP") return false;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) return false;
    if (isHeld) chmodSync(`/proc/self/fd/${descriptor}`, mode & RESTORED_MODE);
    else fchmodSync(descriptor, mode & RESTORED_MODE);
    return true;
  } finally {
    closeSync(descriptor);
  }
}
