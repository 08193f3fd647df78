/** All file operations over a map of files, for backends that only have to say where the map is. */
import { canonicalPath, type PathError } from "../paths.ts";
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
  OperationOptions,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "./backend.ts";
import { bytesOf, type FileMap, missing, readFrom, readRawFrom } from "./file-map.ts";
import { type Change, planAppend, planDelete, planEdit, planUpload, planWrite } from "./file-map-change.ts";
import { globFrom, grepFrom, listFrom } from "./file-map-search.ts";
import { transferError } from "./transfer-error.ts";

/** The files of one operation. Between opening and committing nothing is awaited. */
export interface OpenFiles {
  readonly files: FileMap;
  /** Stores the changes, or says why not; hands them back where the caller has to store them. */
  commit(update: FilesUpdate): Committed;
}

export type Committed = { readonly error?: undefined; readonly filesUpdate?: FilesUpdate } | FileError;

export abstract class FileMapBackend implements BackendProtocol {
  /** Throws when `options.signal` is aborted. */
  protected abstract open(options?: OperationOptions): OpenFiles | Promise<OpenFiles>;

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || "/", options, (target, { files }) => listFrom(files, target));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#at(path, options, (target, { files }) => readFrom(files, target, offset, limit));
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#at(path, options, (target, { files }) => readRawFrom(files, target));
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#at(path, options, (target, opened) =>
      apply(opened, target, planWrite(opened.files, target, content, now(), options?.overwrite)),
    );
  }

  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#at(path, options, (target, opened) =>
      apply(opened, target, planAppend(opened.files, target, content, now())),
    );
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#at(path, options, (target, opened) => {
      const change = planEdit(opened.files, target, oldString, newString, replaceAll, now());
      if (change.error !== undefined) return change;
      const result = apply(opened, target, change);
      return result.error !== undefined ? result : { ...result, occurrences: change.occurrences };
    });
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#at(path, options, (target, opened) =>
      apply(opened, target, planDelete(opened.files, target)),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#at(path || "/", options, (target, { files }) =>
      grepFrom(files, pattern, target, glob, maxCount),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || "/", options, (target, { files }) => globFrom(files, pattern, target));
  }

  /** Replaces what is there. The result carries `filesUpdate` where the caller has to store the changes. */
  async uploadFiles(
    uploads: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[] & { filesUpdate?: FilesUpdate }> {
    const responses: FileUploadResponse[] & { filesUpdate?: FilesUpdate } = [];
    for (const [path, bytes] of uploads) {
      const result = await this.#at(path, options, (target, opened) =>
        apply(opened, target, planUpload(opened.files, target, bytes, now())),
      );
      responses.push({ path, error: result.error === undefined ? null : transferError(result) });
      if (result.error === undefined && result.filesUpdate)
        responses.filesUpdate = { ...responses.filesUpdate, ...result.filesUpdate };
    }
    return responses;
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const responses: FileDownloadResponse[] = [];
    for (const path of paths) {
      const result = await this.#at(path, options, (target, { files }) => {
        const data = files.get(target);
        return data === undefined ? missing(files, target) : { content: bytesOf(data), error: undefined };
      });
      responses.push(
        result.error === undefined
          ? { path, content: result.content, error: null }
          : { path, content: null, error: transferError(result) },
      );
    }
    return responses;
  }

  /** Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. */
  async #at<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (target: string, opened: OpenFiles) => Result,
  ): Promise<Result | PathError> {
    const canonical = canonicalPath(path);
    if (canonical.error !== undefined) return canonical;
    return act(canonical.path, await this.open(options));
  }
}

function apply(
  opened: OpenFiles,
  path: string,
  change: Change,
): { readonly path: string; readonly filesUpdate?: FilesUpdate; readonly error?: undefined } | FileError {
  if (change.error !== undefined) return change;
  const committed = opened.commit(change.update);
  if (committed.error !== undefined) return committed;
  return committed.filesUpdate ? { path, filesUpdate: committed.filesUpdate } : { path };
}

function now(): string {
  return new Date().toISOString();
}
