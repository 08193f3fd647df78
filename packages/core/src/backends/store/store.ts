/** Files that live in a LangGraph store: kept across threads, shared by all runs with the same namespace. */

import type { BaseStore } from "@langchain/langgraph";
import { checkNames } from "../../check-options.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { canonicalPath, parentPath } from "../../paths.ts";
import { ambientRuntime } from "../ambient-runtime.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  DeleteResult,
  EditResult,
  FileDownloadResponse,
  FileError,
  FilesUpdate,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "../backend.ts";
import { bytesOf, type FileMap, readFrom, readRawFrom } from "../file-map/file-map.ts";
import {
  type Change,
  planAppend,
  planDelete,
  planEdit,
  planUpload,
  planWrite,
} from "../file-map/file-map-change.ts";
import { transferError } from "../transfer-error.ts";
import { NotAFileError, StoreFiles } from "./store-files.ts";
import {
  checkNamespaceOption,
  type NamespaceSource,
  namespaceFor,
  type StoreBackendNamespaceFactory,
  type StoreRuntime,
} from "./store-namespace.ts";
import { globStore, grepStore, listStore } from "./store-search.ts";
import { emptyMap, foundMap, listedMap } from "./store-view.ts";

export interface StoreBackendOptions<State = any> {
  /** Default: the store of the run. */
  readonly store?: BaseStore;
  /**
   * The part of the store the files are in, exactly; default `[assistantId, "filesystem"]`. A function
   * gets the run and decides for each: by user, by organisation, or by both.
   */
  readonly namespace?: readonly string[] | StoreBackendNamespaceFactory<State>;
  /** `v1` writes text one string a line, for older readers of the same store; default `v2`. */
  readonly fileFormat?: "v1" | "v2";
}

/** How often a change is made again when other processes keep changing the same file. */
const ATTEMPTS = 20;
const OPTION_NAMES = ["store", "namespace", "fileFormat"];

/**
 * Exactly one of N creators of a file in one process succeeds, and all edits of one file land. With a store that has
 * `putIf` this holds across processes too; with others the last of two processes wins.
 */
export class StoreBackend implements BackendProtocol {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly #runtime: StoreRuntime | undefined;
  readonly #store: BaseStore | undefined;
  readonly #namespace: NamespaceSource | undefined;
  readonly #format: "v1" | "v2";

  constructor(options?: StoreBackendOptions | null);
  /** The older form: the run comes first. */
  constructor(stateAndStore: StoreRuntime, options?: StoreBackendOptions | null);
  constructor(first?: StoreBackendOptions | StoreRuntime | null, second?: StoreBackendOptions | null) {
    const runtime = first && "state" in first ? first : undefined;
    const options =
      (runtime === undefined ? (first as StoreBackendOptions | null | undefined) : second) ?? {};
    checkOptions(options);
    this.#runtime = runtime;
    this.#store = options.store ?? undefined;
    this.#namespace = checkNamespaceOption(options.namespace);
    this.#format = options.fileFormat ?? "v2";
  }

  /** The same files for one task, without ambient context. Options of the constructor stay. */
  withRuntime(runtime: BackendRuntime): StoreBackend {
    const own = this.#runtime;
    const options = { store: this.#store, namespace: this.#namespace, fileFormat: this.#format };
    return new StoreBackend({ ...runtime, ...own, store: own?.store ?? runtime.store }, options);
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || "/", options, (target, files) => listStore(files, target, options?.signal));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#at(path, options, async (target, files) =>
      readFrom(await viewOf(files, target), target, offset, limit),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#at(path, options, async (target, files) =>
      readRawFrom(await viewOf(files, target), target, this.#format),
    );
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#at(path, options, (target, files) =>
      change(files, target, options, (view) => planWrite(view, target, content, now(), options?.overwrite)),
    );
  }

  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#at(path, options, (target, files) =>
      change(files, target, options, (view) => planAppend(view, target, content, now())),
    );
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#at(path, options, async (target, files) => {
      let occurrences = 0;
      const result = await change(files, target, options, (view) => {
        const edited = planEdit(view, target, oldString, newString, replaceAll, now());
        if (edited.error === undefined) occurrences = edited.occurrences;
        return edited;
      });
      return result.error !== undefined ? result : { ...result, occurrences };
    });
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#at(path, options, (target, files) =>
      files.inTurn(async () => {
        const view = listedMap((await files.list(target)).files);
        const planned = planDelete(view, target);
        if (planned.error !== undefined) return planned;
        options?.signal?.throwIfAborted();
        await files.commitAll(planned.update);
        return { path: target, filesUpdate: null };
      }),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#at(path || "/", options, (target, files) =>
      grepStore(files, { pattern, target, glob, maxCount, signal: options?.signal }),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || "/", options, (target, files) =>
      globStore(files, pattern, target, options?.signal),
    );
  }

  /** Replaces existing files. One file that cannot be stored does not stop the others. */
  async uploadFiles(
    uploads: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    const files = this.#open(options);
    return files.inTurn(async () => {
      const view = await uploadView(files, uploads);
      const update: FilesUpdate = {};
      const responses = uploads.map(([path, bytes]): FileUploadResponse => {
        const canonical = canonicalPath(path);
        const planned =
          canonical.error === undefined ? planUpload(view, canonical.path, bytes, now()) : canonical;
        if (planned.error !== undefined) return { path, error: transferError(planned) };
        view.add(planned.update);
        Object.assign(update, planned.update);
        return { path, error: null };
      });
      options?.signal?.throwIfAborted();
      await files.commitAll(update);
      return responses;
    });
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const files = this.#open(options);
    const canonical = paths.map((path) => canonicalPath(path));
    const found = await files.getAll(canonical.flatMap(({ path }) => path ?? []));
    return Promise.all(
      canonical.map(async (target, index): Promise<FileDownloadResponse> => {
        const path = paths[index] as string;
        if (target.error !== undefined) return { path, content: null, error: "invalid_path" };
        const file = found.get(target.path);
        if (file !== undefined) return { path, content: bytesOf(file.data), error: null };
        const isDirectory = target.path === "/" || (await files.isDirectory(target.path));
        return { path, content: null, error: isDirectory ? "is_directory" : "file_not_found" };
      }),
    );
  }

  async #at<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (target: string, files: StoreFiles) => Promise<Result>,
  ): Promise<Result | FileError> {
    const canonical = canonicalPath(path);
    if (canonical.error !== undefined) return canonical;
    const files = this.#open(options);
    try {
      return await act(canonical.path, files);
    } catch (error) {
      const expected = expectedFailure(error, canonical.path);
      if (expected === undefined) throw error;
      return expected;
    }
  }

  #open(options: OperationOptions | undefined): StoreFiles {
    options?.signal?.throwIfAborted();
    const runtime: StoreRuntime = this.#runtime ?? ambientRuntime() ?? { state: {} };
    const store = this.#store ?? runtime.store;
    if (!store)
      throw new DeepwrightError("INVALID_OPTION", "StoreBackend has no store to keep files in.", {
        hint: "Pass `store` to createDeepAgent, or to StoreBackend itself.",
      });
    const namespace = namespaceFor(this.#namespace, { ...runtime, store });
    return new StoreFiles(store, namespace, this.#format === "v1");
  }
}

/** Reads, decides, stores; and again when another process was faster. */
async function change(
  files: StoreFiles,
  path: string,
  options: OperationOptions | undefined,
  plan: (view: FileMap) => Change,
): Promise<{ path: string; filesUpdate: null; error?: undefined } | FileError> {
  return files.inTurn(async () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await files.getAll(path === "/" ? [] : withParents(path));
      const before = found.get(path);
      const holdsFiles = before === undefined && (path === "/" || (await files.isDirectory(path)));
      const planned = plan(foundMap(found, ...(holdsFiles ? [path] : [])));
      if (planned.error !== undefined) return planned;
      options?.signal?.throwIfAborted();
      if (await files.commit(path, planned.update[path] ?? null, before)) return { path, filesUpdate: null };
    }
    return {
      error: `'${path}' is being changed by others all the time. Nothing was done.`,
      code: "CONFLICT",
    };
  });
}

async function viewOf(files: StoreFiles, path: string): Promise<FileMap> {
  const file = path === "/" ? undefined : await files.get(path);
  if (file !== undefined) return foundMap(new Map([[path, file]]));
  const isDirectory = path === "/" || (await files.isDirectory(path));
  return isDirectory ? foundMap(new Map(), path) : emptyMap;
}

/** Everything that may stand in the way of the uploads, asked for once. */
async function uploadView(files: StoreFiles, uploads: readonly (readonly [string, Uint8Array])[]) {
  const paths = uploads.flatMap(([path]) => canonicalPath(path).path ?? []);
  const involved = new Set(paths.flatMap((path) => (path === "/" ? [] : withParents(path))));
  const found = await files.getAll([...involved]);
  const unknown = [...new Set(paths)].filter((path) => path !== "/" && !found.has(path));
  const directories: string[] = [];
  for (const path of unknown) if (await files.isDirectory(path)) directories.push(path);
  return foundMap(found, ...directories);
}

function withParents(path: string): string[] {
  const paths = [path];
  for (let parent = parentPath(path); parent !== "/"; parent = parentPath(parent)) paths.push(parent);
  return paths;
}

/** Errors of a store that the caller of a path can understand. */
function expectedFailure(error: unknown, path: string): FileError | undefined {
  if (error instanceof NotAFileError) return { error: error.message, code: "UNAVAILABLE" };
  if (!(error instanceof DeepwrightError)) return undefined;
  if (error.code === "INVALID_ID")
    return { error: `'${path.slice(0, 200)}…' is too long for this store`, code: "INVALID_PATH" };
  if (error.code === "STORAGE_FULL") return { error: error.message, code: "STORAGE_FULL" };
  return undefined;
}

function checkOptions(options: StoreBackendOptions): void {
  checkNames("StoreBackend", options, OPTION_NAMES);
  if (options.fileFormat !== undefined && !["v1", "v2"].includes(options.fileFormat))
    throw new ConfigurationError("INVALID_OPTION", "The option 'fileFormat' must be 'v1' or 'v2'.");
}

function now(): string {
  return new Date().toISOString();
}
