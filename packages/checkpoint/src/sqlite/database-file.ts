/** The file of a database: its permissions, and whether it is intact. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DeepwrightError } from "deepwright/errors";
import { type Database, openDatabase } from "./driver.ts";
import { corrupt, isBusy } from "./sqlite-errors.ts";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
/** Smaller files are checked whenever they are opened: it takes less than a moment. */
const ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024;

export const IN_MEMORY = ":memory:";

/** Makes the file and its directory for their owner alone, before anything is in it, or tightens it. */
export function prepareFile(path: string): void {
  if (path === IN_MEMORY) return;
  try {
    makeDirectory(dirname(path));
    makeFile(path);
    if (!statSync(path).isFile()) throw new Error("it is not a file");
    for (const file of [path, `${path}-wal`, `${path}-shm`]) tighten(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new DeepwrightError(
      code === "ENOSPC" ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE",
      `${path} cannot be opened: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** Node's own recursive mkdir never ends where a file system refuses a directory as if it were missing. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** A file that is there is not opened: closing it again would end all locks this process has on it. */
function makeFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", OWNER_ONLY));
}

/** A file of another owner cannot be changed; if others may read it, that is theirs to know. */
function tighten(file: string): void {
  if (!existsSync(file) || (statSync(file).mode & OTHERS) === 0) return;
  try {
    chmodSync(file, OWNER_ONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

/**
 * Whether a database has to be checked before use. SQLite removes the `-wal` file when the last connection closes, so
 * an existing one belongs to a running process, or to one that ended without closing.
 */
export function needsCheck(path: string, alwaysBelow = ALWAYS_CHECKED_BYTES): boolean {
  if (path === IN_MEMORY) return false;
  const bytes = fileBytes(path);
  if (bytes === 0) return false;
  if (bytes < alwaysBelow) return true;
  return fileBytes(`${path}-wal`) > 0 && !isOpenElsewhere(path);
}

export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Every connection in WAL mode holds a shared lock on the file, so no other can lock it exclusively. */
function isOpenElsewhere(path: string): boolean {
  const probe = openDatabase(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    probe.exec("PRAGMA locking_mode = EXCLUSIVE; SELECT COUNT(*) FROM sqlite_schema");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    probe.close();
  }
}

/** Checks the structure of all pages; the content of texts is not checked. */
export function checkPages(database: Database, path: string): void {
  const rows = database.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
  const found = rows[0]?.quick_check;
  if (found !== "ok") throw corrupt(path, found?.replace(/\s+/g, " ") ?? "the check gave no answer");
}
