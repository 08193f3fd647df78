/** Errors of the operating system in the words and codes of a backend. */
import type { BigIntStats, Stats } from "node:fs";
import { DeepwrightError } from "../../errors.ts";
import { showPath } from "../../paths.ts";
import type { FileError, FileErrorCode } from "../backend.ts";

/** An expected failure on its way out of nested calls; `asFileError` turns it into a result. */
export class FileFailure extends Error {
  readonly result: Required<FileError>;

  constructor(code: FileErrorCode = "UNAVAILABLE", error = "") {
    super(error);
    this.result = { error, code };
  }
}

/** The `errno` name of a system error, e.g. `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/**
 * The result for a failed operation on `path`, a virtual path. Only that path is shown, because texts of the system
 * name host paths. Rethrows errors that are not about the file: a bug, an abort, a broken disk.
 */
export function asFileError(error: unknown, path: string): FileError {
  if (error instanceof FileFailure) return error.result;
  const code = systemCode(error);
  const known = code === undefined ? undefined : BY_SYSTEM_CODE[code];
  if (known !== undefined) return known(path);
  if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
  throw new DeepwrightError(
    "STORAGE_UNAVAILABLE",
    `'${showPath(path)}' cannot be reached: the system said ${code}.`,
    {
      cause: error,
    },
  );
}

const BY_SYSTEM_CODE: Readonly<Record<string, (path: string) => FileError>> = {
  ENOENT: notFound,
  ENOTDIR: notFound,
  EISDIR: isDirectory,
  EEXIST: alreadyExists,
  EACCES: denied,
  EPERM: denied,
  EROFS: denied,
  ENOSPC: storageFull,
  EDQUOT: storageFull,
  EFBIG: (path) => ({ error: `'${showPath(path)}' would be too large for its disk`, code: "TOO_LARGE" }),
  ENAMETOOLONG: (path) => invalid(path, "a name in it is too long"),
  EILSEQ: (path) => invalid(path, "its disk does not take such names"),
  EINVAL: (path) => invalid(path, "its disk does not take such names"),
  ENXIO: special,
  ENODEV: special,
  EOPNOTSUPP: special,
  ELOOP: changedMeanwhile,
  ESTALE: changedMeanwhile,
  ETXTBSY: inUse,
  EBUSY: inUse,
};

export function notFound(path: string): FileError {
  return { error: `File '${showPath(path)}' not found`, code: "FILE_NOT_FOUND" };
}

export function isDirectory(path: string): FileError {
  return { error: `'${showPath(path)}' is a directory`, code: "IS_DIRECTORY" };
}

export function notADirectory(path: string): FileError {
  return { error: `'${showPath(path)}' is a file, not a directory`, code: "NOT_A_DIRECTORY" };
}

export function alreadyExists(path: string): FileError {
  return {
    error: `Cannot write to ${showPath(path)} because it already exists. Read and then make an edit, or write to a new path.`,
    code: "FILE_EXISTS",
  };
}

/** The same whether or not there is something out there. */
export function outsideRoot(path: string): FileError {
  return { error: `'${showPath(path)}' leads out of the root directory`, code: "OUTSIDE_ROOT" };
}

export function special(path: string): FileError {
  return { error: `'${showPath(path)}' is a pipe, socket or device, not a file`, code: "SPECIAL_FILE" };
}

export function changedMeanwhile(path: string): FileError {
  return {
    error: `'${showPath(path)}' was changed by someone else at the same time. Try again.`,
    code: "CONFLICT",
  };
}

/** Undefined for a plain file. */
export function whyNotPlain(stats: Stats | BigIntStats, path: string): FileError | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? isDirectory(path) : special(path);
}

function denied(path: string): FileError {
  return { error: `The system does not permit this on '${showPath(path)}'`, code: "PERMISSION_DENIED" };
}

function storageFull(path: string): FileError {
  return { error: `There is no space left to store '${showPath(path)}'`, code: "STORAGE_FULL" };
}

function inUse(path: string): FileError {
  return { error: `'${showPath(path)}' is in use by another program. Try again.`, code: "CONFLICT" };
}

function invalid(path: string, reason: string): FileError {
  const whole = showPath(path);
  const shown = whole.length > 200 ? `${whole.slice(0, 200)}…` : whole;
  return { error: `Path cannot be used, ${reason}: ${shown}`, code: "INVALID_PATH" };
}
