/** A whole backend from the operations of any object store or table: list, get, put under a condition, remove. */
import { canonicalPath, parentPath } from "../../paths.ts";
import type {
  BackendProtocol,
  DeleteResult,
  EditResult,
  FileDownloadResponse,
  FileError,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { bytesOf, missing, readFrom, readRawFrom } from "../file-map/file-map.ts";
import { type Change, planAppend, planEdit, planUpload, planWrite } from "../file-map/file-map-change.ts";
import { KeyLock } from "../key-lock.ts";
import { transferError } from "../transfer-error.ts";
import type { FilePrimitives, PutOptions } from "./file-primitives.ts";
import {
  dataOf,
  eachOf,
  FetchedFiles,
  fetchOne,
  fetchParents,
  isDirectory,
  listPrimitives,
} from "./primitive-files.ts";
import { globPrimitives, grepPrimitives, lsPrimitives } from "./primitive-search.ts";

/** How often a change is made again when others keep changing the same file. */
const ATTEMPTS = 20;

/**
 * Edits of one file run one after the other in this process; against other processes the conditions of `put` protect.
 * Directories exist through their files. A path is never both a file and a directory: this is checked before a file is
 * created, but two processes that create both at once can still do it.
 */
export function backendFromPrimitives(primitives: FilePrimitives): BackendProtocol {
  return primitives.remove ? new RemovingBackend(primitives) : new PrimitiveBackend(primitives);
}

export class PrimitiveBackend implements BackendProtocol {
  readonly #primitives: FilePrimitives;
  readonly #turns = new KeyLock();

  constructor(primitives: FilePrimitives) {
    this.#primitives = primitives;
  }

  ls(path: string, options: OperationOptions = {}): Promise<LsResult> {
    return at(path || "/", options, (target) => lsPrimitives(this.#primitives, target, options));
  }

  read(path: string, offset?: number, limit?: number, options: OperationOptions = {}): Promise<ReadResult> {
    return at(path, options, async (target) =>
      readFrom(await fetchOne(this.#primitives, target, options), target, offset, limit),
    );
  }

  readRaw(path: string, options: OperationOptions = {}): Promise<ReadRawResult> {
    return at(path, options, async (target) =>
      readRawFrom(await fetchOne(this.#primitives, target, options), target),
    );
  }

  write(
    path: string,
    content: string,
    options: OperationOptions & { readonly overwrite?: boolean } = {},
  ): Promise<WriteResult> {
    return this.#change(path, options, (files, target) =>
      planWrite(files, target, content, now(), options.overwrite),
    );
  }

  append(path: string, content: string, options: OperationOptions = {}): Promise<WriteResult> {
    return this.#change(path, options, (files, target) => planAppend(files, target, content, now()));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options: OperationOptions = {},
  ): Promise<EditResult> {
    let occurrences = 0;
    const result = await this.#change(path, options, (files, target) => {
      const change = planEdit(files, target, oldString, newString, replaceAll, now());
      if (change.error === undefined) occurrences = change.occurrences;
      return change;
    });
    return result.error === undefined ? { ...result, occurrences } : result;
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options: OperationOptions = {},
  ): Promise<GrepResult> {
    return at(path || "/", options, (target) =>
      grepPrimitives(this.#primitives, { pattern, target, glob, maxCount }, options),
    );
  }

  glob(pattern: string, path?: string, options: OperationOptions = {}): Promise<GlobResult> {
    return at(path || "/", options, (target) => globPrimitives(this.#primitives, pattern, target, options));
  }

  /** Replaces what is there. */
  async uploadFiles(
    uploads: readonly (readonly [string, Uint8Array])[],
    options: OperationOptions = {},
  ): Promise<FileUploadResponse[]> {
    options.signal?.throwIfAborted();
    const upload = async ([path, bytes]: readonly [string, Uint8Array]): Promise<FileUploadResponse> => {
      const result = await this.#change(path, options, (files, target) =>
        planUpload(files, target, bytes, now()),
      );
      return { path, error: result.error === undefined ? null : transferError(result) };
    };
    return eachOf(uploads, upload, mayMeet(uploads.map(([path]) => path)) ? 1 : undefined);
  }

  async downloadFiles(
    paths: readonly string[],
    options: OperationOptions = {},
  ): Promise<FileDownloadResponse[]> {
    options.signal?.throwIfAborted();
    return eachOf(paths, (path) => download(this.#primitives, path, options));
  }

  #change(
    path: string,
    options: OperationOptions,
    plan: (files: FetchedFiles, target: string) => Change,
  ): Promise<WriteResult> {
    return at(path, options, (target) =>
      this.#turns.take(target, () => change(this.#primitives, target, options, plan)),
    );
  }
}

class RemovingBackend extends PrimitiveBackend {
  readonly #primitives: FilePrimitives;

  constructor(primitives: FilePrimitives) {
    super(primitives);
    this.#primitives = primitives;
  }

  delete(path: string, options: OperationOptions = {}): Promise<DeleteResult> {
    return at(path, options, (target) => remove(this.#primitives, target, options));
  }
}

/**
 * Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. A `FileFailure`
 * of the place becomes a result.
 */
export async function at<Result>(
  path: string,
  options: OperationOptions,
  act: (target: string) => Promise<Result>,
): Promise<Result | FileError> {
  const canonical = canonicalPath(path);
  if (canonical.error !== undefined) return canonical;
  options.signal?.throwIfAborted();
  try {
    return await act(canonical.path);
  } catch (error) {
    if (error instanceof FileFailure) return error.result;
    throw error;
  }
}

/** Reads, decides, puts; and again when someone else was faster. */
async function change(
  primitives: FilePrimitives,
  target: string,
  options: OperationOptions,
  plan: (files: FetchedFiles, target: string) => Change,
): Promise<WriteResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = target === "/" ? undefined : await primitives.get(target, options);
    const files = before ? new FetchedFiles() : await surroundings(primitives, target, options);
    if (before) files.add(target, dataOf(target, before));
    const planned = plan(files, target);
    if (planned.error !== undefined) return planned;
    const data = planned.update[target];
    if (!data) throw new Error(`No content for ${target}`);
    options.signal?.throwIfAborted();
    const condition: PutOptions = before ? { ifVersion: before.version } : { ifAbsent: true };
    const done = await primitives.put(target, bytesOf(data), { ...options, ...condition });
    if (done === true) return { path: target, filesUpdate: null };
    if (done !== false) return done;
  }
  return {
    error: `'${target}' is being changed by others all the time. Nothing was done.`,
    code: "CONFLICT",
  };
}

/** Entries that may stand in the way of a new file. */
async function surroundings(
  primitives: FilePrimitives,
  target: string,
  options: OperationOptions,
): Promise<FetchedFiles> {
  const files = new FetchedFiles();
  if (target === "/") return files;
  const [parents, holdsFiles] = await Promise.all([
    fetchParents(primitives, target, options),
    isDirectory(primitives, target, options),
  ]);
  for (const [path, file] of parents) files.add(path, dataOf(path, file));
  if (holdsFiles) files.addDirectory(target);
  return files;
}

/** Whether one of these may be a directory another lies in: then one waits for the other. */
function mayMeet(paths: readonly string[]): boolean {
  const names = new Set(paths.map((path) => canonicalPath(path).path ?? "/"));
  return [...names].some((name) => {
    for (let parent = parentPath(name); parent !== "/"; parent = parentPath(parent))
      if (names.has(parent)) return true;
    return false;
  });
}

/** Deletes a directory file by file; a file that is created meanwhile stays. */
async function remove(
  primitives: FilePrimitives,
  target: string,
  options: OperationOptions,
): Promise<DeleteResult> {
  if (target === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
  const own = await primitives.get(target, options);
  const { files } = await listPrimitives(primitives, target, options);
  const doomed = [...(own ? [target] : []), ...files.flatMap(({ path, is_dir }) => (is_dir ? [] : [path]))];
  options.signal?.throwIfAborted();
  if (doomed.length === 0) return missing(new FetchedFiles(), target);
  await eachOf(doomed, (path) => primitives.remove?.(path, options));
  return { path: target, filesUpdate: null };
}

async function download(
  primitives: FilePrimitives,
  path: string,
  options: OperationOptions,
): Promise<FileDownloadResponse> {
  const result = await at(path, options, async (target) => {
    const file = target === "/" ? undefined : await primitives.get(target, options);
    return file ?? missing(await fetchOne(primitives, target, options), target);
  });
  if ("error" in result) return { path, content: null, error: transferError(result) };
  return { path, content: result.bytes, error: null };
}

function now(): string {
  return new Date().toISOString();
}
