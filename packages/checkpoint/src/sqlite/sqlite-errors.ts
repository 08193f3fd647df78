/** Errors of SQLite as errors for the caller. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DeepwrightError } from "deepwright/errors";

/** Primary result codes. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** SQLite cannot grow a file, or the index of its log, in less. */
const USABLE_BYTES = 64 * 1024;

export const RESTORE_HINT =
  "Close every program that uses it, move the file and its -wal and -shm aside, and copy a backup to its place.";

export function isBusy(error: unknown): boolean {
  const code = resultCode(error) & 0xff;
  return code === BUSY || code === LOCKED;
}

/** SQLite's own error: another connection still reads the log. */
export function stillRead(): Error {
  return Object.assign(new Error("the log is being read"), { errcode: BUSY });
}

export function isFull(error: unknown): boolean {
  return (resultCode(error) & 0xff) === FULL;
}

/** Whether a driver read an integer that no JavaScript number holds: Node's, or the package. */
export function isTooLarge(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === "ERR_OUT_OF_RANGE" || String(message).includes("too large to be represented");
}

/** A typed error for a failure that the caller can handle; any other error is unchanged. */
export function storageError(error: unknown, path: string): unknown {
  if (error instanceof DeepwrightError) return error;
  const code = resultCode(error);
  if (code === 0) return error;
  const options = { cause: error };
  switch (code & 0xff) {
    case BUSY:
    case LOCKED:
      return busy(path, error);
    case FULL:
      return full(path, error);
    case IOERR:
      if (diskIsFull(path)) return full(path, error);
      return new DeepwrightError(
        "STORAGE_UNAVAILABLE",
        `The disk failed under ${path}: ${text(error)}.`,
        options,
      );
    case CORRUPT:
    case NOTADB:
      return corrupt(path, text(error), error);
    case READONLY:
      return new DeepwrightError("STORAGE_UNAVAILABLE", `${path} cannot be written to.`, {
        hint: "Check who owns the file and its directory, and whether the disk is mounted read-only.",
        ...options,
      });
    case CANTOPEN:
      if (diskIsFull(path)) return full(path, error);
      return new DeepwrightError("STORAGE_UNAVAILABLE", `${path} cannot be opened.`, {
        hint: "Check that it is a file in a directory this user may write to.",
        ...options,
      });
    default:
      return error;
  }
}

export function corrupt(path: string, what: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("STORAGE_CORRUPT", `The database ${path} is damaged: ${what}.`, {
    hint: RESTORE_HINT,
    cause,
  });
}

function busy(path: string, cause: unknown): DeepwrightError {
  return new DeepwrightError("STORAGE_BUSY", `${path} was locked by another process for too long.`, {
    hint: "Try again, or give a longer busyTimeout.",
    cause,
  });
}

export function full(path: string, cause: unknown): DeepwrightError {
  return new DeepwrightError("STORAGE_FULL", `There is no space left for ${path}.`, {
    hint: "Nothing of this step was stored; free space and resume.",
    cause,
  });
}

/** SQLite's extended result code; 0 for an error of something else. */
function resultCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === "number" ? code : 0;
}

/** Some failures of a full disk are options as any other failure of a disk. */
function diskIsFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < USABLE_BYTES;
  } catch {
    return false;
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
