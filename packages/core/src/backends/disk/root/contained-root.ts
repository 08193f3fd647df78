/**
 * A directory that no path leaves: turns virtual paths into open directories inside it.
 *
 * Links that stay inside are followed here, name by name, and never by the system. A link that leads out is refused
 * with the same message whether or not its target exists. Resolved directories are held open, so that check and use
 * happen on the same thing.
 */
import { closeSync, constants as flagsOf, fstatSync, mkdirSync, type Stats } from "node:fs";
import { isWithin, showPath } from "../../../paths.ts";
import type { FileError } from "../../backend.ts";
import { asFileError, FileFailure, notFound, outsideRoot, special, systemCode } from "../file-errors.ts";
import { OpenDirectory, type OpenStrategy } from "./open-directory.ts";
import { type MissingPath, PathWalk, type ResolvedPath, type ResolveOptions } from "./path-walk.ts";

export interface ContainedRootOptions {
  /** The canonical virtual path of the root: all paths given and returned begin with it. Default `/`. */
  readonly mountedAt?: string;
  readonly strategy?: OpenStrategy | undefined;
}

export class ContainedRoot {
  readonly hostPath: string;
  readonly mountedAt: string;
  readonly #strategy: OpenStrategy | undefined;
  /** The root as it was first opened. Every path starts here, even if the names above it change. */
  #held: OpenDirectory | undefined;

  /** `hostPath` is absolute. Nothing is opened before it is needed. */
  constructor(hostPath: string, options: ContainedRootOptions = {}) {
    this.hostPath = hostPath;
    this.mountedAt = options.mountedAt ?? "/";
    this.#strategy = options.strategy;
  }

  /** Throws a `FileFailure` or a system error: see `asFileError`. */
  resolve(path: string, options: ResolveOptions = {}): ResolvedPath | MissingPath {
    const inside = this.pathInside(path);
    const start = this.#start(options.create);
    if (start === undefined) return { path };
    const walk = new PathWalk(start, this, path, inside, options);
    try {
      return walk.run();
    } catch (error) {
      walk.closeAll();
      throw error;
    }
  }

  /** `path` below the root: it begins with `/`, which is the root. Throws for a path outside. */
  pathInside(path: string): string {
    if (this.mountedAt === "/") return path;
    const start = isWithin(path, this.mountedAt) ? this.mountedAt : this.#realMount;
    if (start !== undefined && isWithin(path, start)) return path.slice(start.length) || "/";
    throw new FileFailure("OUTSIDE_ROOT", outsideRoot(path).error);
  }

  /** The virtual path of `inside`, a path below the root. */
  virtualPath(inside: string): string {
    if (this.mountedAt === "/") return inside;
    return inside === "/" ? this.mountedAt : this.mountedAt + inside;
  }

  /** With host paths, the root may also be named by its path without links. */
  get #realMount(): string | undefined {
    try {
      return this.realHostPath();
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /** The directory at `path`, and its path after links. The caller closes it. `given` is where `path` leads, if that is known. */
  openDirectory(
    path: string,
    given?: ResolvedPath | MissingPath,
  ): { readonly directory: OpenDirectory; readonly path: string } | FileError {
    try {
      const resolved = given ?? this.resolve(path);
      if (resolved.directory === undefined) return notFound(path);
      if (resolved.name === ".") return { directory: resolved.directory, path: resolved.path };
      try {
        return { directory: openChild(resolved, path), path: resolved.path };
      } finally {
        resolved.directory.close();
      }
    } catch (error) {
      return asFileError(error, path);
    }
  }

  /** Opens `path` with `flags` and returns its stats: it may be a directory. The caller closes it. */
  openFile(
    path: string,
    flags: number = flagsOf.O_RDONLY,
    given?: ResolvedPath | MissingPath,
  ): { readonly fd: number; readonly stats: Stats; readonly path: string } | FileError {
    try {
      const resolved = given ?? this.resolve(path);
      if (resolved.directory === undefined) return notFound(path);
      try {
        if (resolved.stats && !resolved.stats.isFile() && !resolved.stats.isDirectory()) return special(path);
        const fd = resolved.directory.openFile(resolved.name, flags);
        try {
          return { fd, stats: fstatSync(fd), path: resolved.path };
        } catch (error) {
          closeSync(fd);
          throw error;
        }
      } finally {
        resolved.directory.close();
      }
    } catch (error) {
      return asFileError(error, path);
    }
  }

  /** The present real path of the root on the host; undefined if it does not exist. */
  realHostPath(): string | undefined {
    const root = this.#start();
    try {
      return root?.hostPath();
    } finally {
      root?.close();
    }
  }

  /** Releases the directory. The next call opens the directory that exists then. */
  close(): void {
    if (this.#held === undefined) return;
    forgotten.unregister(this);
    this.#held.close();
    this.#held = undefined;
  }

  /** Undefined where it does not exist. The caller closes it. */
  #start(create?: boolean): OpenDirectory | undefined {
    if (this.#held === undefined) {
      const opened = this.#open(create);
      if (opened === undefined) return undefined;
      this.#held = opened;
      forgotten.register(this, opened, this);
    } else if (!this.#held.isAt(this.hostPath)) {
      throw new FileFailure("UNAVAILABLE", ROOT_GONE);
    }
    return this.#held.again();
  }

  #open(create?: boolean): OpenDirectory | undefined {
    try {
      return OpenDirectory.openRoot(this.hostPath, this.#strategy);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      if (!create) return undefined;
      mkdirSync(this.hostPath, { recursive: true });
      return OpenDirectory.openRoot(this.hostPath, this.#strategy);
    }
  }
}

/** Closes the directories of roots that were not closed. */
const forgotten = new FinalizationRegistry<OpenDirectory>((directory) => directory.close());

const ROOT_GONE =
  "The root directory was moved, removed or replaced after it was opened. Close the backend, or make a new one, to use the directory that is there now";

function openChild(resolved: ResolvedPath, path: string): OpenDirectory {
  if (resolved.stats !== undefined && !resolved.stats.isDirectory())
    throw new FileFailure("NOT_A_DIRECTORY", `'${showPath(path)}' is a file, not a directory`);
  return resolved.directory.child(resolved.name);
}
