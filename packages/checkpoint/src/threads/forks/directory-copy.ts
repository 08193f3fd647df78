/** Copies of a directory for tests and forks. A copy goes with its process: others remove what a dead one left. */
import type { Dirent } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { DeepwrightError } from "deepwright/errors";
import { isProcessGone, processName } from "deepwright/process-identity";

export interface DirectoryCopy {
  /** The real path of the copy. */
  readonly directory: string;
  /** Paths that were not copied: pipes, sockets, and what may not be read. */
  readonly left: readonly string[];
  /** Safe twice. */
  remove(): Promise<void>;
}

export interface CopyOptions {
  /** The directory that copies are put in. Default: the one for temporary files. */
  readonly copiesIn?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const PREFIX = "deepwright-copy-";
/** Names the process that a copy belongs to. */
const OWNER = "owner";
const FILES = "files";
/** A copy without a known owner is removed after this time. */
const UNKNOWN_OWNER_MS = 7 * 24 * 60 * 60 * 1000;

/** Also removes copies of processes that ended without it. */
export async function copyDirectory(
  root: string,
  { copiesIn = tmpdir(), signal }: CopyOptions = {},
): Promise<DirectoryCopy> {
  await mkdir(copiesIn, { recursive: true, mode: 0o700 });
  const [from, parent] = await Promise.all([realpath(root), realpath(copiesIn)]);
  if (`${parent}${sep}`.startsWith(`${from === sep ? "" : from}${sep}`))
    throw new DeepwrightError("INVALID_INPUT", `The copies of '${from}' would be inside it, in '${parent}'.`);
  await removeStaleCopies(parent);
  const own = await mkdtemp(join(parent, PREFIX));
  const remove = (): Promise<void> => removeTree(own);
  try {
    await writeFile(join(own, OWNER), processName());
    const { copyTree } = await import("deepwright/internal");
    const left = await copyTree(from, join(own, FILES), { signal });
    return { directory: join(own, FILES), left, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes the copies of processes that have ended. Other entries of the directory stay. */
export async function removeStaleCopies(copiesIn: string): Promise<void> {
  for (const entry of await readdir(copiesIn, { withFileTypes: true }).catch(ifMissing)) {
    const path = join(copiesIn, entry.name);
    if (entry.isDirectory() && entry.name.startsWith(PREFIX) && (await isStale(path))) await removeTree(path);
  }
}

async function isStale(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.uid !== (process.getuid?.() ?? stats.uid)) return false;
  const owner = await readFile(join(path, OWNER), "utf8").catch(() => "");
  return isProcessGone(owner) || Date.now() - stats.mtimeMs > UNKNOWN_OWNER_MS;
}

/** Directories whose mode forbids it are removed too. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    await openDirectories(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openDirectories(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await openDirectories(join(path, entry.name));
}

function ifMissing(error: NodeJS.ErrnoException): Dirent[] {
  if (["ENOENT", "ENOTDIR", "EACCES"].includes(error.code ?? "")) return [];
  throw error;
}
