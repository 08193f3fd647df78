/** Gives files that root makes in a directory to the owner of the directory. */
import { statSync } from "node:fs";
import type { OpenDirectory } from "./open-directory.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner for new entries of this directory; undefined: we are not root, or the directory is root's. */
export function ownerForRoot(directory: OpenDirectory): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(directory.path("."));
  return uid === 0 ? undefined : { uid, gid };
}
