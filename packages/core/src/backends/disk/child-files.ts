/** Files of one name in the directories of a directory on disk: see `../child-files.ts`. */
import { closeSync, type Dirent, fstatSync, lstatSync, readSync, type Stats } from "node:fs";
import type { FileError } from "../backend.ts";
import type { ChildFile, ChildFiles, ChildFilesRequest } from "../child-files.ts";
import type { ContainedRoot } from "./contained-root.ts";
import { systemCode } from "./file-errors.ts";
import { type Child, KnownChildren, stampOf } from "./known-children.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { breathe } from "./time-slices.ts";

const BETWEEN_BREATHS = 64;
/** Most names need no second look. */
const PLAIN = /^[\w-]+(?:\.[\w-]+)*$/;

/** No link is followed, except on the way to `path` itself where it stays inside. */
export async function listChildFiles(
  root: ContainedRoot,
  path: string,
  request: ChildFilesRequest,
): Promise<ChildFiles | FileError> {
  request.signal?.throwIfAborted();
  const opened = root.openDirectory(path);
  if ("error" in opened) return opened;
  const { directory } = opened;
  const prefix = path === "/" ? "/" : `${path}/`;
  const search = new Search(request, prefix);
  try {
    const known = new KnownChildren(directory, prefix, request);
    const unchanged = await known.unchanged();
    if (unchanged !== undefined) return unchanged;
    const own = search.fileIn(directory, "");
    if (own === "unclear") return { files: [], others: [path] };
    if (own !== undefined) return { own, files: [], others: [] };
    for (const [index, entry] of directory.entries().entries()) {
      search.add(directory, entry);
      if (index % BETWEEN_BREATHS === 0) await breathe(request.signal);
    }
    const result = search.result();
    if (result.others.length === 0) known.remember(search.children, result);
    return result;
  } finally {
    directory.close();
  }
}

class Search {
  /** Of these it is known whether they have the file. */
  readonly children: Child[] = [];
  readonly #request: ChildFilesRequest;
  readonly #prefix: string;
  readonly #buffer: Buffer;
  readonly #files: ChildFile[] = [];
  readonly #others: string[] = [];
  /** Where one file was new, so are most of the others: looking first would only cost. */
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
      entry.isDirectory() && PLAIN.test(entry.name) ? this.#fileBelow(directory, entry.name) : "unclear";
    if (found === "unclear") {
      this.#others.push(`${this.#prefix}${entry.name}`.normalize("NFC"));
      return;
    }
    this.children.push({ name: entry.name, file: found });
    if (found !== undefined) this.#files.push(found);
  }

  result(): ChildFiles {
    return {
      files: this.#files.sort((one, other) => (one.path < other.path ? -1 : 1)),
      others: this.#others.sort(),
    };
  }

  #fileBelow(directory: OpenDirectory, name: string): ChildFile | "unclear" | undefined {
    const known = this.#expectsKnown ? this.#knownFile(directory, name) : undefined;
    if (known !== undefined) return known;
    let child: OpenDirectory | undefined;
    try {
      child = directory.child(name);
      const file = this.fileIn(child, `${name}/`);
      if (typeof file === "object") this.#expectsKnown = file.head === undefined;
      return file;
    } catch (error) {
      return unclear(error);
    } finally {
      child?.close();
    }
  }

  /**
   * A stamp alone may be looked up by path: wherever that leads, nothing is read there. The plain path takes the
   * system half as long as one through a descriptor.
   */
  #knownFile(directory: OpenDirectory, name: string): ChildFile | undefined {
    try {
      this.#hostPath ??= directory.hostPath();
      const stats = lstatSync(`${this.#hostPath}/${name}/${this.#request.name}`, { throwIfNoEntry: false });
      const file = stats?.isFile() ? this.#described(stats, `${name}/`) : undefined;
      return file && this.#request.isKnown(file.stamp) ? file : undefined;
    } catch (error) {
      unclear(error);
      return undefined;
    }
  }

  fileIn(directory: OpenDirectory, inner: string): ChildFile | "unclear" | undefined {
    let descriptor: number | undefined;
    try {
      descriptor = directory.openFile(this.#request.name);
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return "unclear";
      const file = this.#described(stats, inner);
      if (this.#request.isKnown(file.stamp)) return file;
      const length = readSync(descriptor, this.#buffer, 0, this.#buffer.length, 0);
      return { ...file, head: this.#buffer.toString("utf8", 0, length) };
    } catch (error) {
      return systemCode(error) === "ENOENT" ? undefined : unclear(error);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
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
