/** Where a path leads, once it is certain that the call may go there. */
import type { FileError } from "../../backend.ts";
import type { OpenCheck } from "../../open-check.ts";
import type { ContainedRoot } from "./contained-root.ts";
import type { MissingPath, ResolvedPath, ResolveOptions } from "./path-walk.ts";

export interface PathRequest {
  readonly root: ContainedRoot;
  /** Canonical. */
  readonly path: string;
  /** Asked about the path after links. */
  readonly openCheck?: OpenCheck | undefined;
  /** A link on the way is an error. */
  readonly refuseLinks?: boolean | undefined;
}

/** The checked directory is held open, so the caller uses exactly that directory. */
export async function resolveChecked(
  { root, path, openCheck, refuseLinks }: PathRequest,
  options: ResolveOptions = {},
): Promise<ResolvedPath | MissingPath | FileError> {
  const resolved = root.resolve(path, { refuseLinks, ...options });
  try {
    const refused = await openCheck?.at(resolved.path, path);
    if (refused === undefined) return resolved;
    resolved.directory?.close();
    return refused;
  } catch (error) {
    resolved.directory?.close();
    throw error;
  }
}
