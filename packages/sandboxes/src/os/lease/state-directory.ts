/** The directory with the data of this user's sandboxes on this machine. */
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxError } from "deepwright";

/**
 * Ours alone: other users cannot write into it or list it. Root's can be passed through, because its sandboxes run as
 * another user.
 */
export function stateDirectory(given?: string): string {
  const path = given ?? join(tmpdir(), `deepwright-os-${process.getuid?.() ?? "user"}`);
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  mkdirSync(path, { recursive: true, mode });
  const current = modeOfOwn(path);
  if ((current & WRITABLE_BY_OTHERS) !== 0)
    throw new SandboxError(
      `'${path}' can be written by others, who may have put something there: remove it, or set stateDir to a directory that is yours alone.`,
      "SANDBOX_UNAVAILABLE",
    );
  if ((current & 0o777) !== mode) chmodSync(path, mode);
  return path;
}

const WRITABLE_BY_OTHERS = 0o022;

/** Throws if it is no directory, or another user's. */
function modeOfOwn(path: string): number {
  const stats = lstatSync(path);
  if (stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid()))
    return stats.mode;
  throw new SandboxError(
    `'${path}' is not a directory of this user: remove it, or set stateDir.`,
    "SANDBOX_UNAVAILABLE",
  );
}

/** A directory of ours in it. */
export function stateSubdirectory(state: string, name: string): string {
  const path = join(state, name);
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  modeOfOwn(path);
  return path;
}
