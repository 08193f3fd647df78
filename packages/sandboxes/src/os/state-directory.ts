/** The directory in which this user's sandboxes on this machine keep what they need. */
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxError } from "deepwright";

/**
 * Ours alone: nobody else can put something into it, or, but for root's, look into it. Root's can be passed through,
 * because its sandboxes run as somebody else.
 */
export function stateDirectory(given?: string): string {
  const path = given ?? join(tmpdir(), `deepwright-os-${process.getuid?.() ?? "user"}`);
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  mkdirSync(path, { recursive: true, mode });
  const stats = lstatSync(path);
  if (!stats.isDirectory() || (process.getuid !== undefined && stats.uid !== process.getuid()))
    throw new SandboxError(
      `'${path}' is not a directory of this user: remove it, or set stateDir.`,
      "SANDBOX_UNAVAILABLE",
    );
  if ((stats.mode & 0o777) !== mode) chmodSync(path, mode);
  return path;
}

/** A directory of ours in it. */
export function stateSubdirectory(state: string, name: string): string {
  const path = join(state, name);
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  return path;
}
