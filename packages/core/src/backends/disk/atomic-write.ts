/**
 * Files that appear or change as a whole: the content is complete in a file beside the target before it gets the name.
 * A failure leaves nothing behind.
 *
 * A replaced file keeps its mode (but for set-id bits), and its owner and group where we may set them; a second name of
 * the old file (a hard link) keeps the old content. Access lists and extended attributes are not carried over.
 */
import { randomBytes } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fchownSync,
  constants as flagsOf,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  read,
  readSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { systemCode } from "./file-errors.ts";
import { ownerForRoot } from "./root/directory-owner.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { breathe } from "./time-slices.ts";

const writeLater = promisify(write);
const readLater = promisify(read);

/** Up to this size the thread is not worth leaving. */
const AT_ONCE_BYTES = 16 * 1024 * 1024;
/** Larger contents are written in pieces of this size. */
const PIECE_BYTES = 16 * 1024 * 1024;
const NEW_FILE_MODE = 0o644;
/** Without the bits that lend a program its owner's rights: other content has not earned them. */
const KEPT_MODE = 0o1777n;
const TEMPORARY = /^\.deepwright-[0-9a-f]{16}\.tmp$/;
const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = flagsOf;

/** Whether a name is one under which files wait to become whole. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}

/**
 * Throws `EEXIST` when something has the name: of several creators, in any process, one succeeds. The pieces,
 * written one behind the other, may be asked for twice.
 */
export async function createFile(
  directory: OpenDirectory,
  name: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  const temporary = await writeTemporary(directory, pieces, undefined);
  try {
    linkSync(directory.path(temporary), directory.path(name));
  } catch (error) {
    if (!LINKS_UNSUPPORTED.has(systemCode(error) ?? "")) throw error;
    await createInPlace(directory, name, pieces);
  } finally {
    removeQuietly(directory, temporary);
  }
}

/** Error codes of disks without hard links. */
const LINKS_UNSUPPORTED = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV", "EACCES"]);

/** Exclusive too, but the file is there while it is being written. */
async function createInPlace(
  directory: OpenDirectory,
  name: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  const descriptor = directory.openFile(name, O_WRONLY | O_CREAT | O_EXCL, NEW_FILE_MODE);
  try {
    await writePieces(descriptor, pieces);
    giveToOwner(directory, descriptor);
  } catch (error) {
    removeQuietly(directory, name);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Puts the pieces, one behind the other, in the place of the file that `like` describes, or of nothing. False, with nothing changed,
 * when the file is no longer the one described.
 */
export async function replaceFile(
  directory: OpenDirectory,
  name: string,
  pieces: readonly Uint8Array[],
  like: BigIntStats | undefined,
): Promise<boolean> {
  const temporary = await writeTemporary(directory, pieces, like);
  try {
    if (!isUnchanged(directory, name, like)) return false;
    renameSync(directory.path(temporary), directory.path(name));
    return true;
  } finally {
    removeQuietly(directory, temporary);
  }
}

/** Adds to the end of the file that `like` describes; a failed addition is taken back. */
export async function appendToFile(
  directory: OpenDirectory,
  name: string,
  bytes: Uint8Array,
  like: BigIntStats,
): Promise<boolean> {
  const descriptor = directory.openFile(name, O_WRONLY | O_APPEND);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!isSame(stats, like)) return false;
    try {
      await writeAll(descriptor, bytes);
    } catch (error) {
      ftruncateSync(descriptor, Number(stats.size));
      throw error;
    }
    return true;
  } finally {
    closeSync(descriptor);
  }
}

function isUnchanged(directory: OpenDirectory, name: string, like: BigIntStats | undefined): boolean {
  const stats = lstatSync(directory.path(name), { bigint: true, throwIfNoEntry: false });
  return stats === undefined || like === undefined ? stats === like : isSame(stats, like);
}

/** By everything a change leaves a trace in. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}

async function writeTemporary(
  directory: OpenDirectory,
  pieces: Iterable<Uint8Array>,
  like: BigIntStats | undefined,
): Promise<string> {
  const name = `.deepwright-${randomBytes(8).toString("hex")}.tmp`;
  const mode = like === undefined ? NEW_FILE_MODE : 0o600;
  const descriptor = directory.openFile(name, O_WRONLY | O_CREAT | O_EXCL, mode);
  try {
    await writePieces(descriptor, pieces);
    if (like !== undefined) resemble(descriptor, like);
    else giveToOwner(directory, descriptor);
  } catch (error) {
    removeQuietly(directory, name);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return name;
}

/** The owner first: changing it clears bits of the mode. */
function resemble(descriptor: number, like: BigIntStats): void {
  const own = fstatSync(descriptor, { bigint: true });
  if (own.uid !== like.uid || own.gid !== like.gid)
    try {
      fchownSync(descriptor, Number(like.uid), Number(like.gid));
    } catch (error) {
      if (!["EPERM", "EINVAL", "ENOSYS"].includes(systemCode(error) ?? "")) throw error;
    }
  fchmodSync(descriptor, Number(like.mode & KEPT_MODE));
}

function giveToOwner(directory: OpenDirectory, descriptor: number): void {
  const owner = ownerForRoot(directory);
  if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
}

function removeQuietly(directory: OpenDirectory, name: string): void {
  try {
    unlinkSync(directory.path(name));
  } catch {
    // It has its name by now, or its directory is gone.
  }
}

async function writePieces(descriptor: number, pieces: Iterable<Uint8Array>): Promise<void> {
  let isFirst = true;
  for (const piece of pieces) {
    if (!isFirst) await breathe();
    isFirst = false;
    await writeAll(descriptor, piece);
  }
}

async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(bytes.length - done, PIECE_BYTES);
    if (bytes.length <= AT_ONCE_BYTES) done += writeSync(descriptor, bytes, done, length);
    else done += (await writeLater(descriptor, bytes, done, length, null)).bytesWritten;
  }
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Where to begin; default 0. */
  readonly from?: number;
  /** Bytes at most. */
  readonly limit?: number;
  /** Buffer to read into, if it is large enough. */
  readonly into?: Buffer | undefined;
}

/** An open file from its beginning to its end; `size` is how much it is believed to have. */
export async function readAll(descriptor: number, size: number, options: ReadOptions = {}): Promise<Buffer> {
  const { signal, from = 0, limit = Number.POSITIVE_INFINITY, into } = options;
  const expected = Math.min(size + 1, limit);
  let bytes = into !== undefined && into.length >= expected ? into : Buffer.allocUnsafe(expected);
  let length = 0;
  while (length < limit) {
    signal?.throwIfAborted();
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(bytes.length * 2, limit));
    const room = Math.min(bytes.length - length, PIECE_BYTES);
    const count =
      size <= AT_ONCE_BYTES
        ? readSync(descriptor, bytes, length, room, from + length)
        : (await readLater(descriptor, bytes, length, room, from + length)).bytesRead;
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
