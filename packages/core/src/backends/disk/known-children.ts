/**
 * What was found in the directories of a directory, so that looking again costs one `lstat` for each of them.
 *
 * A directory whose own dates did not change has the entries it had. What lies in these may have changed without
 * that, so each is looked at; by path, since nothing is read: wherever a path leads, only a stamp is compared.
 */
import { lstatSync, type Stats } from "node:fs";
import type { ChildFile, ChildFiles, ChildFilesRequest } from "../child-files.ts";
import { systemCode } from "./file-errors.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { breathe } from "./time-slices.ts";

const MOST_DIRECTORIES = 32;
const MOST_CHILDREN = 10_000;
/** Milliseconds. A directory changed twice in such a time may show the same dates both times. */
const UNSETTLED = 50;
const BETWEEN_BREATHS = 64;

/** A directory in the directory, and the file that is there, if any. */
export interface Child {
  readonly name: string;
  readonly file: ChildFile | undefined;
}

interface Known {
  readonly stamp: string;
  readonly hostPaths: readonly string[];
  /** Of the files, in the same order. */
  readonly stamps: readonly (string | undefined)[];
  readonly result: ChildFiles;
}

const known = new Map<string, Known>();

/** The files of one name in the directories of one directory, as one backend shows them. */
export class KnownChildren {
  readonly #hostPath: string;
  readonly #request: ChildFilesRequest;
  readonly #key: string;
  /** Undefined: it has just been changed, so nothing can be said of it. */
  readonly #stamp: string | undefined;

  /** Made before the directory is read. `prefix` is what the paths of its children begin with. */
  constructor(directory: OpenDirectory, prefix: string, request: ChildFilesRequest) {
    this.#hostPath = directory.hostPath();
    this.#request = request;
    this.#key = `${this.#hostPath}\0${prefix}\0${request.name}`;
    const stats = directory.lstat(".");
    const isSettled = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > UNSETTLED;
    this.#stamp = isSettled ? stampOf(stats) : undefined;
  }

  /** The very result of the last time, if nothing changed since and whoever asks knows all of it. */
  async unchanged(): Promise<ChildFiles | undefined> {
    const before = known.get(this.#key);
    if (before === undefined || before.stamp !== this.#stamp) return undefined;
    const { hostPaths, stamps, result } = before;
    for (let i = 0; i < hostPaths.length; i += 1) {
      const stamp = stamps[i];
      if (stampAt(hostPaths[i] as string) !== stamp) return undefined;
      if (stamp !== undefined && !this.#request.isKnown(stamp)) return undefined;
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
      stamps: children.map(({ file }) => file?.stamp),
      // Their beginnings were for whoever asked then.
      result: { ...result, files: result.files.map(({ head: _, ...file }) => file) },
    });
  }
}

/** What tells a content of a file from its others, and from other files. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Undefined where nothing is, and no stamp where that cannot be said. */
function stampAt(hostPath: string): string | undefined {
  try {
    const stats = lstatSync(hostPath, { throwIfNoEntry: false });
    return stats && stampOf(stats);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return "";
  }
}
