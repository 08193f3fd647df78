/** A copy of a database in use. */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DeepwrightError } from "deepwright/errors";
import type { Database } from "./driver.ts";
import { full, isFull } from "./sqlite-errors.ts";

/** The copy appears under its name whole and synced, or not at all; a file that is there stays. */
export function backupTo(database: Database, target: string): void {
  if (existsSync(target)) throw exists(target);
  const unfinished = `${target}.${randomUUID()}.unfinished`;
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
    database.prepare("VACUUM INTO ?1").run(unfinished);
    sync(unfinished, "r+");
    giveName(unfinished, target);
    if (process.platform !== "win32") sync(dirname(target), "r");
  } catch (error) {
    throw fileError(target, error);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** A link fails if the name is taken; not every file system has links. */
function giveName(unfinished: string, target: string): void {
  try {
    linkSync(unfinished, target);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    renameSync(unfinished, target);
  }
}

/** Windows syncs only files opened for writing, which a directory cannot be. */
function sync(path: string, flags: "r" | "r+"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function fileError(target: string, error: unknown): unknown {
  if (isFull(error)) return full(target, error);
  switch ((error as NodeJS.ErrnoException).code) {
    case "EEXIST":
      return exists(target);
    case "ENOSPC":
      return full(target, error);
    case "ENOENT":
    case "ENOTDIR":
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new DeepwrightError("STORAGE_UNAVAILABLE", `${target} cannot be written.`, {
        hint: "Give the name of a new file in a directory this user may write to.",
        cause: error,
      });
    default:
      return error;
  }
}

function exists(target: string): DeepwrightError {
  return new DeepwrightError("INVALID_OPTION", `${target} exists already.`, {
    hint: "A backup never overwrites a file; give another name.",
  });
}
