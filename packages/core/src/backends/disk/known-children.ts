/**
 * Entries found in the directories of a directory, so that the next look costs one `lstat` for each of them.
 *
 * A directory with unchanged dates has the same entries. Their contents may have changed all the same, so each is
 * checked. The check is by path, because only stamps are compared and nothing is read.
 */
import { lstatSync, type Stats } from "node:fs";
import type { ChildFile, ChildFiles, ChildFilesRequest } from "../child-files.ts";
import { systemCode } from "./file-errors.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { breathe } from "./time-slices.ts";

const MOST_DIRECTORIES = 32;
const MOST_CHILDREN = 10_000;
/** Milliseconds. Two changes of a directory within this time may leave the same dates. */
const UNSETTLED = 50;
const BETWEEN_BREATHS = 64;
const QUIET = { throwIfNoEntry: false } as const;

/** A directory in the directory, and the file that is there, if any. */
export interface Child {
  readonly name: string;
  readonly seen: SeenFile | undefined;
}

export interface SeenFile {
  readonly file: ChildFile;
  readonly stats: Stats;
}

interface Known {
  readonly stamp: string;
  readonly hostPaths: readonly string[];
  /** Marks of the files, in the same order. */
  readonly marks: readonly (Mark | undefined)[];
  readonly result: ChildFiles;
}

/** The stamp with its parts: comparing numbers is cheaper than formatting them. */
type Mark = Pick<Stats, "dev" | "ino" | "size" | "mtimeMs" | "ctimeMs"> & { readonly stamp: string };

const known = new Map<string, Known>();

/** The files of one name in the directories of one directory, as one backend shows them. */
export class KnownChildren {
  readonly #hostPath: string;
  readonly #request: ChildFilesRequest;
  readonly #key: string;
  /** Undefined: it was changed just now, so its dates prove nothing. */
  readonly #stamp: string | undefined;

  /** Made before the directory is read. The paths of its children begin with `prefix`. */
  constructor(directory: OpenDirectory, prefix: string, request: ChildFilesRequest) {
    this.#hostPath = directory.hostPath();
    this.#request = request;
    this.#key = `${this.#hostPath}\0${prefix}\0${request.name}`;
    const stats = directory.lstat(".");
    const isSettled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > UNSETTLED;
    this.#stamp = isSettled ? stampOf(stats) : undefined;
  }

  /** The very result of the last time, if nothing changed since and the caller knows all of it. */
  async unchanged(): Promise<ChildFiles | undefined> {
    const before = known.get(this.#key);
    if (before === undefined || before.stamp !== this.#stamp) return undefined;
    const { hostPaths, marks, result } = before;
    for (let i = 0; i < hostPaths.length; i += 1) {
      const mark = marks[i];
      if (!isAsMarked(hostPaths[i] as string, mark)) return undefined;
      if (mark !== undefined && !this.#request.isKnown(mark.stamp)) return undefined;
      if (i % BETWEEN_BREATHS === 0) await breathe(this.#request.signal);
    }
    return result;
  }

  /** `result` is of all the children, and of these alone. */
  remember(children: readonly Child[], result: ChildFiles): void {
    if (this.#stamp === undefined || children.length > MOST_CHILDREN) return;
    known.delete(this.#key);
    if (known.size >= MOST_DIRECTORIES) known.delete(known.keys().next().value as string);
    known.set(this.#key, {
      stamp: this.#stamp,
      hostPaths: children.map(({ name }) => `${this.#hostPath}/${name}/${this.#request.name}`),
      marks: children.map(({ seen }) => seen && markOf(seen)),
      // Their beginnings were for the earlier caller.
      result: { ...result, files: result.files.map(({ head: _, ...file }) => file) },
    });
  }
}

/** A stamp that tells one content of a file from other contents and other files. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

function markOf({ file: { stamp }, stats: { dev, ino, size, mtimeMs, ctimeMs } }: SeenFile): Mark {
  return { dev, ino, size, mtimeMs, ctimeMs, stamp };
}

/** Without a mark: whether nothing is there. */
function isAsMarked(hostPath: string, mark: Mark | undefined): boolean {
  try {
    const stats = lstatSync(hostPath, QUIET);
    if (stats === undefined || mark === undefined) return stats === mark;
    return (
      stats.mtimeMs === mark.mtimeMs &&
      stats.ctimeMs === mark.ctimeMs &&
      stats.size === mark.size &&
      stats.ino === mark.ino &&
      stats.dev === mark.dev
    );
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
