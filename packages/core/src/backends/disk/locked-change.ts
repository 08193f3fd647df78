/** Brings a change to the place it is about: approved under both names, alone there, and tried again if need be. */
import { type BigIntStats, lstatSync } from "node:fs";
import type { FileError } from "../backend.ts";
import { asFileError, changedMeanwhile, FileFailure, notFound, systemCode } from "./file-errors.ts";
import type { ContainedRoot } from "./root/contained-root.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { withPathLock } from "./root/path-locks.ts";
import type { ResolvedPath } from "./root/path-walk.ts";
import { type PathRequest, resolveChecked } from "./root/resolve-checked.ts";

/** The file has changed since it was read: try again. */
export const AGAIN = Symbol("again");

const ATTEMPTS = 50;

export interface ChangeRequest extends PathRequest {
  readonly signal?: AbortSignal | undefined;
  /** Returns why a path must not be changed. Called for the path and for the target of a link. */
  readonly refuse?: ((path: string) => Promise<FileError | undefined>) | undefined;
  /** Records the content before and after; `path` is after links. Throws if the change must not be made. */
  readonly record?: ((change: RecordedChange) => Promise<void>) | undefined;
  /** No file is made larger; absent: it may. */
  readonly maxBytes?: number | undefined;
  /** Where locks are; for tests. */
  readonly lockDirectory?: string | undefined;
}

export interface RecordedChange {
  readonly path: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  /** The contents are too large to be kept: it is only noted that there was a change. */
  readonly isTooLarge?: boolean;
}

/** A locked name in an open directory; `stats` describes the present entry. */
export interface LockedEntry {
  readonly directory: OpenDirectory;
  readonly name: string;
  /** After links. */
  readonly path: string;
  readonly stats: BigIntStats | undefined;
}

export interface ChangeKind {
  /** Directories on the way are made. */
  readonly create?: boolean;
  /** Changes a link itself, not its target. */
  readonly keepLink?: boolean;
}

export async function changeLocked<Result extends object>(
  request: ChangeRequest,
  kind: ChangeKind,
  act: (resolved: LockedEntry) => Promise<Result | FileError | typeof AGAIN>,
): Promise<Result | FileError> {
  const { path, signal } = request;
  signal?.throwIfAborted();
  try {
    const refused = await request.refuse?.(path);
    if (refused !== undefined) return refused;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const result = await attemptAt(request, kind, act).catch((error: unknown): typeof AGAIN => {
        // Another process deletes the directory while it is made, or written to.
        if (kind.create && systemCode(error) === "ENOENT") return AGAIN;
        throw error;
      });
      if (result !== AGAIN) return result;
    }
    return changedMeanwhile(path);
  } catch (error) {
    return asFileError(error, path);
  }
}

async function attemptAt<Result extends object>(
  request: ChangeRequest,
  kind: ChangeKind,
  act: (resolved: LockedEntry) => Promise<Result | FileError | typeof AGAIN>,
): Promise<Result | FileError | typeof AGAIN> {
  const resolved = await resolveForChange(request, kind);
  if (resolved === AGAIN || !("directory" in resolved)) return resolved;
  const { directory, name, path } = resolved;
  const { signal, lockDirectory } = request;
  try {
    const lock = { path: request.path, signal, directory: lockDirectory };
    return await withPathLock(lockKey(resolved), lock, async () => {
      const stats = lstatSync(directory.path(name), { bigint: true, throwIfNoEntry: false });
      if (stats?.isSymbolicLink() && !kind.keepLink) return AGAIN;
      return act({ directory, name, path, stats });
    });
  } finally {
    directory.close();
  }
}

/** Nothing is made before the path it leads to was approved. */
async function resolveForChange(
  request: ChangeRequest,
  { create = false, keepLink = false }: ChangeKind,
): Promise<ResolvedPath | FileError | typeof AGAIN> {
  const { root, path, refuse } = request;
  const resolved = await resolveChecked(request, { keepLink, forChange: create });
  if ("error" in resolved) return resolved;
  try {
    const refused = resolved.path === path ? undefined : await refuse?.(resolved.path);
    if (refused !== undefined) {
      resolved.directory?.close();
      return refused;
    }
  } catch (error) {
    resolved.directory?.close();
    throw error;
  }
  if (resolved.directory !== undefined) return resolved;
  return create ? makeParents(root, resolved.path) : notFound(path);
}

/** Makes the directories on the way. `path` is after links: a link that appeared since then was not approved. */
function makeParents(root: ContainedRoot, path: string): ResolvedPath | typeof AGAIN {
  try {
    const made = root.resolve(path, { create: true, forChange: true, refuseLinks: true });
    return made.directory === undefined ? AGAIN : made;
  } catch (error) {
    if (error instanceof FileFailure) return AGAIN;
    throw error;
  }
}

/** Names that some disks take for one get one lock. */
function lockKey({ directory, name }: ResolvedPath): string {
  const { dev, ino } = lstatSync(directory.path("."), { bigint: true });
  return `${dev}:${ino}:${name.normalize("NFC").toLowerCase()}`;
}
