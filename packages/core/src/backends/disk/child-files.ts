/**
 * Finds a file of one name, such as `SKILL.md`, in each subdirectory of a directory on disk, and reads its start. Files
 * with a stamp that the caller knows are not read again. `../child-files.ts` is the contract.
 */
import { closeSync, type Dirent, fstatSync, lstatSync, readSync, type Stats } from "node:fs";
import type { FileError } from "../backend.ts";
import type { ChildFile, ChildFiles, ChildFilesRequest } from "../child-files.ts";
import { openCheckOf } from "../open-check.ts";
import { systemCode } from "./file-errors.ts";
import { type Child, KnownChildren, type SeenFile, stampOf } from "./known-children.ts";
import type { ContainedRoot } from "./root/contained-root.ts";
import type { OpenDirectory } from "./root/open-directory.ts";
import { resolveChecked } from "./root/resolve-checked.ts";
import { breathe } from "./time-slices.ts";

/** Entries between two pauses for other work of the process. */
const ENTRIES_PER_PAUSE = 64;
/** ASCII names have one spelling. Other names are left to the caller, under `others`. */
const PLAIN = /^[\w-]+(?:\.[\w-]+)*$/;

/** Follows links only on the way to `path`, and only when they stay inside the root. */
export async function listChildFiles(
  root: ContainedRoot,
  path: string,
  request: ChildFilesRequest,
): Promise<ChildFiles | FileError> {
  request.signal?.throwIfAborted();
  const resolved = await resolveChecked({ root, path, openCheck: openCheckOf(request) });
  if ("error" in resolved) return resolved;
  const opened = root.openDirectory(path, resolved);
  if ("error" in opened) return opened;
  const { directory } = opened;
  const prefix = path === "/" ? "/" : `${path}/`;
  const search = new Search(request, prefix);
  try {
    const cache = new KnownChildren(directory, prefix, request);
    const unchanged = await cache.unchanged();
    if (unchanged !== undefined) return unchanged;
    const own = search.fileIn(directory);
    if (own === "unclear") return { files: [], others: [path] };
    if (own !== undefined) return { own, files: [], others: [] };
    for (const [index, entry] of directory.entries().entries()) {
      search.add(directory, entry);
      if (index % ENTRIES_PER_PAUSE === 0) await breathe(request.signal);
    }
    const result = search.result();
    if (result.others.length === 0) cache.remember(search.children, result);
    return result;
  } finally {
    directory.close();
  }
}

/** Undefined: there is no such file. `unclear`: the caller has to look itself, under `others`. */
type Seen = SeenFile | "unclear" | undefined;

/** Collects the files of one listing. */
class Search {
  /** Subdirectories with a clear answer: the file is there, or it is not. */
  readonly children: Child[] = [];
  readonly #request: ChildFilesRequest;
  readonly #prefix: string;
  readonly #buffer: Buffer;
  readonly #files: ChildFile[] = [];
  readonly #others: string[] = [];
  /** False after a new file: then most others are new too, and a look at their stamps alone is wasted time. */
  #expectsKnown = true;
  #hostPath: string | undefined;

  constructor(request: ChildFilesRequest, prefix: string) {
    this.#request = request;
    this.#prefix = prefix;
    this.#buffer = Buffer.allocUnsafe(request.headBytes);
  }

  add(directory: OpenDirectory, entry: Dirent): void {
    if (!entry.isDirectory() && !entry.isSymbolicLink()) return;
    const found =
      entry.isDirectory() && PLAIN.test(entry.name) ? this.#fileInChild(directory, entry.name) : "unclear";
    if (found === "unclear") {
      this.#others.push(`${this.#prefix}${entry.name}`.normalize("NFC"));
      return;
    }
    this.children.push({ name: entry.name, seen: found });
    if (found !== undefined) this.#files.push(found.file);
  }

  result(): ChildFiles {
    return {
      files: this.#files.sort((one, other) => (one.path < other.path ? -1 : 1)),
      others: this.#others.sort(),
    };
  }

  #fileInChild(directory: OpenDirectory, name: string): Seen {
    this.#hostPath ??= directory.hostPath();
    const known = this.#expectsKnown ? this.#knownFile(this.#hostPath, name) : undefined;
    if (known !== undefined) return known;
    const seen = this.#look(`${name}/`, () => directory.openFileIn(name, this.#request.name));
    if (typeof seen === "object") this.#expectsKnown = seen.file.head === undefined;
    return seen;
  }

  /**
   * The file, if the caller knows its stamp. This look goes by path, which is twice as fast as through a descriptor. It
   * is safe: nothing is read, and only a stamp is compared.
   */
  #knownFile(hostPath: string, name: string): SeenFile | undefined {
    try {
      const stats = lstatSync(`${hostPath}/${name}/${this.#request.name}`, { throwIfNoEntry: false });
      if (!stats?.isFile()) return undefined;
      const file = this.#described(stats, `${name}/`);
      return this.#request.isKnown(file.stamp) ? { file, stats } : undefined;
    } catch (error) {
      unclear(error);
      return undefined;
    }
  }

  /** The file in the directory itself. */
  fileIn(directory: OpenDirectory): ChildFile | "unclear" | undefined {
    const seen = this.#look("", () => directory.openFile(this.#request.name));
    return typeof seen === "object" ? seen.file : seen;
  }

  #look(inner: string, open: () => number): Seen {
    let descriptor: number | undefined;
    try {
      descriptor = open();
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return "unclear";
      const file = this.#described(stats, inner);
      if (this.#request.isKnown(file.stamp)) return { file, stats };
      const length = readSync(descriptor, this.#buffer, 0, this.#buffer.length, 0);
      const head = this.#buffer.toString("utf8", 0, this.#headLength(length));
      return { file: { ...file, head }, stats };
    } catch (error) {
      return systemCode(error) === "ENOENT" ? undefined : unclear(error);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /** Bytes up to and with `headUntil`, else all. */
  #headLength(length: number): number {
    const { headUntil } = this.#request;
    const end = headUntil === undefined ? -1 : this.#buffer.subarray(0, length).indexOf(headUntil);
    return end < 0 ? length : end + Buffer.byteLength(headUntil as string);
  }

  #described(stats: Stats, inner: string): ChildFile {
    return {
      path: `${this.#prefix}${inner}${this.#request.name}`,
      size: stats.size,
      modified: stats.mtimeMs,
      stamp: stampOf(stats),
    };
  }
}

function unclear(error: unknown): "unclear" {
  if (systemCode(error) === undefined) throw error;
  return "unclear";
}
