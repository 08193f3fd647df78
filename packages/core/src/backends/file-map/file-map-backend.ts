/** All file operations over a map of files, for backends that only have to say where the map is. */
import { canonicalPath, type PathError } from "../../paths.ts";
import type {
  BackendProtocol,
  DeleteResult,
  EditResult,
  FileDownloadResponse,
  FileError,
  FilesUpdate,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  MaybePromise,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "../backend.ts";
import { transferError } from "../transfer-error.ts";
import {
  bytesOf,
  type FileFormat,
  type FileMap,
  missing,
  olderShape,
  readFrom,
  readRawFrom,
} from "./file-map.ts";
import { type Change, planAppend, planDelete, planEdit, planUpload, planWrite } from "./file-map-change.ts";
import { globFrom, grepFrom, listFrom } from "./file-map-search.ts";

/** The files of one operation. Between opening and committing nothing is awaited. */
export interface OpenFiles {
  readonly files: FileMap;
  /** Stores the changes, or returns why not; returns them if the caller has to store them. */
  commit(update: FilesUpdate): Committed;
}

export type Committed = { readonly error?: undefined; readonly filesUpdate?: FilesUpdate } | FileError;

type UploadResponses = FileUploadResponse[] & { filesUpdate?: FilesUpdate };
type Applied =
  | { readonly path: string; readonly filesUpdate?: FilesUpdate; readonly error?: undefined }
  | FileError;

/** Methods answer at once where the files are at hand, and later where `open` does. */
export abstract class FileMapBackend implements BackendProtocol {
  protected readonly fileFormat: FileFormat = "v2";

  /** Throws when `options.signal` is aborted. */
  protected abstract open(options?: OperationOptions): OpenFiles | Promise<OpenFiles>;

  ls(path: string, options?: OperationOptions): MaybePromise<LsResult> {
    return this.#at(path || "/", options, (target, { files }) => listFrom(files, target));
  }

  read(path: string, offset?: number, limit?: number, options?: OperationOptions): MaybePromise<ReadResult> {
    return this.#at(path, options, (target, { files }) => readFrom(files, target, offset, limit));
  }

  readRaw(path: string, options?: OperationOptions): MaybePromise<ReadRawResult> {
    return this.#at(path, options, (target, { files }) => readRawFrom(files, target, this.fileFormat));
  }

  write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): MaybePromise<WriteResult> {
    return this.#at(path, options, (target, opened) =>
      this.#apply(opened, target, planWrite(opened.files, target, content, now(), options?.overwrite)),
    );
  }

  append(path: string, content: string, options?: OperationOptions): MaybePromise<WriteResult> {
    return this.#at(path, options, (target, opened) =>
      this.#apply(opened, target, planAppend(opened.files, target, content, now())),
    );
  }

  edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): MaybePromise<EditResult> {
    return this.#at(path, options, (target, opened) => {
      const change = planEdit(opened.files, target, oldString, newString, replaceAll, now());
      if (change.error !== undefined) return change;
      const result = this.#apply(opened, target, change);
      return result.error !== undefined ? result : { ...result, occurrences: change.occurrences };
    });
  }

  delete(path: string, options?: OperationOptions): MaybePromise<DeleteResult> {
    return this.#at(path, options, (target, opened) =>
      this.#apply(opened, target, planDelete(opened.files, target)),
    );
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): MaybePromise<GrepResult> {
    return this.#at(path || "/", options, (target, { files }) =>
      grepFrom(files, pattern, target, glob, maxCount),
    );
  }

  glob(pattern: string, path?: string, options?: OperationOptions): MaybePromise<GlobResult> {
    return this.#at(path || "/", options, (target, { files }) => globFrom(files, pattern, target));
  }

  /** Replaces existing files. The result has `filesUpdate` if the caller has to store the changes. */
  uploadFiles(
    uploads: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): MaybePromise<UploadResponses> {
    return this.#opened(options, (opened) => {
      const responses: UploadResponses = [];
      for (const [path, bytes] of uploads) {
        const result = atPath(path, (target) =>
          this.#apply(opened, target, planUpload(opened.files, target, bytes, now())),
        );
        responses.push({ path, error: result.error === undefined ? null : transferError(result) });
        if (result.error === undefined && result.filesUpdate)
          responses.filesUpdate = { ...responses.filesUpdate, ...result.filesUpdate };
      }
      return responses;
    });
  }

  downloadFiles(paths: readonly string[], options?: OperationOptions): MaybePromise<FileDownloadResponse[]> {
    return this.#opened(options, ({ files }) =>
      paths.map((path): FileDownloadResponse => {
        const result = atPath(path, (target) => {
          const data = files.get(target);
          return data === undefined ? missing(files, target) : { content: bytesOf(data), error: undefined };
        });
        return result.error === undefined
          ? { path, content: result.content, error: null }
          : { path, content: null, error: transferError(result) };
      }),
    );
  }

  #at<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (target: string, opened: OpenFiles) => Result,
  ): MaybePromise<Result | PathError> {
    const canonical = canonicalPath(path);
    if (canonical.error !== undefined) return canonical;
    return this.#opened(options, (opened) => act(canonical.path, opened));
  }

  #opened<Result>(
    options: OperationOptions | undefined,
    act: (opened: OpenFiles) => Result,
  ): MaybePromise<Result> {
    const opened = this.open(options);
    return opened instanceof Promise ? opened.then(act) : act(opened);
  }

  #apply(opened: OpenFiles, path: string, change: Change): Applied {
    if (change.error !== undefined) return change;
    const committed = opened.commit(this.fileFormat === "v1" ? olderUpdate(change.update) : change.update);
    if (committed.error !== undefined) return committed;
    return committed.filesUpdate ? { path, filesUpdate: committed.filesUpdate } : { path };
  }
}

/** Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. */
function atPath<Result>(path: string, act: (target: string) => Result): Result | PathError {
  const canonical = canonicalPath(path);
  return canonical.error !== undefined ? canonical : act(canonical.path);
}

function olderUpdate(update: FilesUpdate): FilesUpdate {
  return Object.fromEntries(
    Object.entries(update).map(([path, data]) => [path, data === null ? null : olderShape(data)]),
  );
}

function now(): string {
  return new Date().toISOString();
}
