/** Deletes a path: a file, a link (never its target), or a directory with its whole content. */
import { isUtf8 } from "node:buffer";
import { closeSync, type Dirent, fstatSync, rmdirSync, unlinkSync } from "node:fs";
import { showPath } from "../../paths.ts";
import type { DeleteResult, FileError } from "../backend.ts";
import { readAll } from "./atomic-write.ts";
import { MAX_IMAGE_BYTES, noteLarge } from "./change-file.ts";
import { FileFailure, isDirectory, notFound, systemCode } from "./file-errors.ts";
import { AGAIN, type ChangeRequest, changeLocked } from "./locked-change.ts";
import type { EntryName, OpenDirectory } from "./root/open-directory.ts";
import { breathe } from "./time-slices.ts";

/** Before-images of one delete, all files together; files beyond it are deleted without. */
const MAX_IMAGES_BYTES = 4 * MAX_IMAGE_BYTES;
/** How often a directory is emptied again because others keep filling it. */
const MAX_ROUNDS = 1000;

/**
 * Deletes nothing if `request.refuse` or the check objects to any part, or if another backend is mounted in it. Each
 * file leaves its before-image; links, empty directories, special files and too large files leave none. Without
 * `directories` directories are not deleted.
 */
export function deleteAt(request: ChangeRequest, directories = true): Promise<DeleteResult> {
  const { path } = request;
  return changeLocked(request, { keepLink: true }, async (entry): Promise<DeleteResult | typeof AGAIN> => {
    if (entry.stats === undefined) return notFound(path);
    const work = new TreeDelete(request);
    if (!entry.stats.isDirectory()) {
      await work.record(entry.directory, entry.name, entry.path);
      unlinkSync(entry.directory.path(entry.name));
      return { path };
    }
    if (!directories) return isDirectory(path);
    const refused = await work.survey(entry.directory, entry.name, entry.path);
    if (refused !== undefined) return refused;
    return (await work.remove(entry.directory, entry.name, entry.path)) ? { path } : AGAIN;
  });
}

class TreeDelete {
  readonly #request: ChangeRequest;
  #imageBytes = 0;

  constructor(request: ChangeRequest) {
    this.#request = request;
  }

  /**
   * Checks whether everything may be deleted, and records before-images. Entries that vanish meanwhile need neither.
   */
  async survey(parent: OpenDirectory, name: EntryName, path: string): Promise<FileError | undefined> {
    const directory = this.#open(parent, name, path);
    try {
      for (const entry of directory.rawEntries()) {
        await breathe(this.#request.signal);
        const inner = innerPath(path, entry);
        const refused =
          this.#request.openCheck?.found?.(inner) ??
          (await this.#request.refuse?.(inner)) ??
          (await unlessMissing(() => this.#surveyEntry(directory, entry, inner)));
        if (refused !== undefined) return refused;
      }
      return undefined;
    } finally {
      directory.close();
    }
  }

  /** Throws where something else is mounted: that is not the tree's to delete. */
  #open(parent: OpenDirectory, name: EntryName, path: string): OpenDirectory {
    const directory = parent.child(name);
    try {
      if (directory.mount() === parent.mount()) return directory;
      const asked = showPath(this.#request.path);
      const reason =
        path === this.#request.path ? "it is a mount point" : `${showPath(path)} in it is a mount point`;
      throw new FileFailure("PERMISSION_DENIED", `Cannot delete ${asked} because ${reason}`);
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  /** A file whose name is not UTF-8 has no path, so it gets no before-image. */
  async #surveyEntry(
    directory: OpenDirectory,
    entry: Dirent<Buffer>,
    path: string,
  ): Promise<FileError | undefined> {
    if (entry.isDirectory()) return this.survey(directory, entry.name, path);
    if (entry.isFile() && isUtf8(entry.name)) await this.record(directory, entry.name, path);
    return undefined;
  }

  async record(directory: OpenDirectory, name: EntryName, path: string): Promise<void> {
    const { record } = this.#request;
    if (record === undefined || !directory.lstat(name).isFile()) return;
    const descriptor = directory.openFile(name);
    try {
      const { size } = fstatSync(descriptor);
      if (size > MAX_IMAGE_BYTES || this.#imageBytes + size > MAX_IMAGES_BYTES)
        return await noteLarge(this.#request, { path });
      const before = await readAll(descriptor, size);
      this.#imageBytes += before.length;
      await record({ path, before, after: undefined });
    } finally {
      closeSync(descriptor);
    }
  }

  /** False when other processes kept filling the directory. Their files are checked too. */
  async remove(parent: OpenDirectory, name: EntryName, path: string): Promise<boolean> {
    const directory = this.#open(parent, name, path);
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        for (const entry of directory.rawEntries()) {
          await breathe(this.#request.signal);
          const inner = innerPath(path, entry);
          const refused = this.#request.openCheck?.found?.(inner);
          if (refused !== undefined) throw new FileFailure(refused.code, refused.error);
          if (entry.isDirectory()) await unlessMissing(() => this.remove(directory, entry.name, inner));
          else await unlessMissing(() => unlinkSync(directory.path(entry.name)));
        }
        if (removeEmpty(parent, name)) return true;
      }
      return false;
    } finally {
      directory.close();
    }
  }
}

function innerPath(path: string, { name }: Dirent<Buffer>): string {
  return `${path}/${name}`.normalize("NFC");
}

async function unlessMissing<Result>(act: () => Result | Promise<Result>): Promise<Result | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!["ENOENT", "ENOTDIR", "EISDIR"].includes(systemCode(error) ?? "")) throw error;
    return undefined;
  }
}

/** False while something is in it. */
function removeEmpty(parent: OpenDirectory, name: EntryName): boolean {
  try {
    rmdirSync(parent.path(name));
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return true;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}
