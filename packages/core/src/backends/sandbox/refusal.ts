/** The codes our scripts answer with, in the words of a backend. */
import { parentPath } from "../../paths.ts";
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

/** `refusal` is the code, for some codes followed by a number. */
export function failureOf(refusal: string, path: string): FileFailure {
  const [code = "", detail] = refusal.split(" ");
  const { error, code: fileCode } = (BY_CODE[code] ?? unavailable)(path, Number(detail));
  return new FileFailure(fileCode, error);
}

/** As `failureOf`, for what a write is told: it names the file that stands where a directory has to be. */
export function writeFailureOf(refusal: string, path: string): FileFailure {
  const [code = "", levels] = refusal.split(" ");
  if (code === "IS_DIRECTORY")
    return new FileFailure("IS_DIRECTORY", `Cannot write to ${path} because it is a directory`);
  if (code !== "NOT_A_DIRECTORY") return failureOf(refusal, path);
  let blocking = path;
  for (let level = 0; level < Number(levels); level++) blocking = parentPath(blocking);
  return new FileFailure("NOT_A_DIRECTORY", `Cannot write to ${path} because ${blocking} is a file`);
}

export function tooLarge(path: string, size: number, limit: number): FileFailure {
  const shown = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
  return new FileFailure(
    "TOO_LARGE",
    `'${path}' has ${shown(size)}, more than the ${shown(limit)} that can be handled at once`,
  );
}

const BY_CODE: Readonly<Record<string, (path: string, detail: number) => FileError>> = {
  FILE_NOT_FOUND: notFound,
  FILE_EXISTS: alreadyExists,
  IS_DIRECTORY: isDirectory,
  NOT_A_DIRECTORY: notADirectory,
  SPECIAL_FILE: special,
  CHANGED: changedMeanwhile,
  PERMISSION_DENIED: (path) => ({
    error: `The system does not permit this on '${path}'`,
    code: "PERMISSION_DENIED",
  }),
  STORAGE_FULL: (path) => ({ error: `There is no space left to store '${path}'`, code: "STORAGE_FULL" }),
  INVALID_PATH: (path) => ({
    error: `Path cannot be used, a name in it is too long: ${path.length > 200 ? `${path.slice(0, 200)}…` : path}`,
    code: "INVALID_PATH",
  }),
  NOT_TEXT: (path) => ({ error: `'${path}' is not a text file (unknown type)`, code: "NOT_TEXT" }),
};

function unavailable(path: string): FileError {
  return { error: `The sandbox could not do this with '${path}'`, code: "UNAVAILABLE" };
}
