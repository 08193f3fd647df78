/** Messages for the codes that scripts and transfers answer with. */
import { showPath } from "../../paths.ts";
import type { FileError } from "../backend.ts";
import {
  alreadyExists,
  changedMeanwhile,
  FileFailure,
  isDirectory,
  notADirectory,
  notFound,
  special,
} from "../disk/file-errors.ts";

/** `code` is one of a script, or of a transfer (`file_not_found`). `act`: a write has words of its own. */
export function failureOf(code: string, path: string, act?: "write"): FileFailure {
  const known = (act === "write" ? WRITE_ERRORS[code] : undefined) ?? ERRORS[code.toUpperCase()];
  const { error, code: fileCode } = known?.(path) ?? unavailable(path, code);
  return new FileFailure(fileCode, error);
}

export function tooLarge(path: string, size: number, limit: number): FileFailure {
  const shown = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
  return new FileFailure(
    "TOO_LARGE",
    `'${showPath(path)}' has ${shown(size)}, more than the ${shown(limit)} that can be handled at once. Use a command to read or change a part of it.`,
  );
}

const ERRORS: Readonly<Record<string, (path: string) => FileError>> = {
  FILE_NOT_FOUND: notFound,
  PARENT_NOT_FOUND: notFound,
  FILE_EXISTS: alreadyExists,
  IS_DIRECTORY: isDirectory,
  NOT_A_DIRECTORY: notADirectory,
  SPECIAL_FILE: special,
  CHANGED: changedMeanwhile,
  PERMISSION_DENIED: (path) => ({
    error: `The system does not permit this on '${showPath(path)}'`,
    code: "PERMISSION_DENIED",
  }),
  INVALID_PATH: (path) => ({
    error: `The sandbox cannot use this path: ${showPath(path).slice(0, 200)}`,
    code: "INVALID_PATH",
  }),
};

const WRITE_ERRORS: typeof ERRORS = {
  is_directory: (path) => ({
    error: `Cannot write to ${showPath(path)} because it is a directory`,
    code: "IS_DIRECTORY",
  }),
  parent_not_found: (path) => ({
    error: `Cannot write to ${showPath(path)} because a directory on the way is missing or is a file`,
    code: "NOT_A_DIRECTORY",
  }),
};

function unavailable(path: string, reason: string): FileError {
  const said = reason === "UNAVAILABLE" ? "" : ` (${showPath(reason).slice(0, 200)})`;
  return { error: `The sandbox could not do this with '${showPath(path)}'${said}`, code: "UNAVAILABLE" };
}
