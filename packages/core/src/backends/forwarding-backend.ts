/** The base of backends that stand in front of others: each method is spelled once and goes through `forward`. */
import { readRawFile } from "./adapt/raw-file.ts";
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
import { offersDelete } from "./offered-delete.ts";

export type ForwardedOperation =
  | "ls"
  | "read"
  | "readRaw"
  | "write"
  | "append"
  | "edit"
  | "delete"
  | "grep"
  | "glob";

export type Uploads = readonly (readonly [string, Uint8Array])[];
export type UploadResponses = FileUploadResponse[] & { filesUpdate?: FilesUpdate };

/** Runs one operation on an inner backend, at the path that it knows. */
export type Forwarded<Result, Options> = (
  inner: BackendProtocol,
  target: string,
  options: Options | undefined,
) => Result | FileError | Promise<Result | FileError>;

/** Methods that are about no single path, or give no result with `error`. */
export type OtherMethods = Required<Pick<ForwardingBackend, "uploadFiles" | "downloadFiles" | "realPath">>;

/** The optional methods are there after `offer`, when an inner backend has them. */
export abstract class ForwardingBackend implements BackendProtocol {
  readonly append?: (path: string, content: string, options?: OperationOptions) => Promise<WriteResult>;
  readonly delete?: (path: string, options?: OperationOptions) => Promise<DeleteResult>;
  readonly uploadFiles?: (files: Uploads, options?: OperationOptions) => Promise<UploadResponses>;
  readonly downloadFiles?: (
    paths: readonly string[],
    options?: OperationOptions,
  ) => Promise<FileDownloadResponse[]>;
  readonly realPath?: (path: string, options?: OperationOptions) => Promise<string | FileError>;

  protected abstract forward<
    Result extends { readonly error?: string; readonly path?: string },
    Options extends OperationOptions,
  >(
    operation: ForwardedOperation,
    path: string,
    options: Options | undefined,
    act: Forwarded<Result, Options>,
  ): Promise<Result | FileError>;

  /** The directory that a listing or search without a path begins in. */
  protected get startDirectory(): string {
    return ".";
  }

  /** Offers the optional methods that one of the inner backends has. */
  protected offer(inners: readonly BackendProtocol[], others: OtherMethods): void {
    const own = this as { -readonly [Key in keyof ForwardingBackend]: ForwardingBackend[Key] };
    const has = (method: keyof BackendProtocol): boolean => inners.some((inner) => inner[method]);
    if (has("append"))
      own.append = (path, content, options) =>
        this.forward<WriteResult, OperationOptions>("append", path, options, (inner, target, given) =>
          inner.append ? inner.append(target, content, given) : unavailable("Appending", target),
        );
    if (inners.some(offersDelete))
      own.delete = (path, options) =>
        this.forward<DeleteResult, OperationOptions>("delete", path, options, (inner, target, given) =>
          offersDelete(inner) ? inner.delete(target, given) : unavailable("Deleting", target),
        );
    if (has("uploadFiles")) own.uploadFiles = others.uploadFiles;
    if (has("downloadFiles")) own.downloadFiles = others.downloadFiles;
    if (has("realPath")) own.realPath = others.realPath;
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.forward<LsResult, OperationOptions>(
      "ls",
      path || this.startDirectory,
      options,
      (inner, target, given) => inner.ls(target, given),
    );
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.forward<ReadResult, OperationOptions>("read", path, options, (inner, target, given) =>
      inner.read(target, offset, limit, given),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.forward<ReadRawResult, OperationOptions>("readRaw", path, options, readRawFile);
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.forward<WriteResult, NonNullable<typeof options>>(
      "write",
      path,
      options,
      (inner, target, given) => inner.write(target, content, given),
    );
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.forward<EditResult, OperationOptions>("edit", path, options, (inner, target, given) =>
      inner.edit(target, oldString, newString, replaceAll, given),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.forward<GrepResult, OperationOptions>(
      "grep",
      path || this.startDirectory,
      options,
      (inner, target, given) => inner.grep(pattern, target, glob, maxCount, given),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.forward<GlobResult, OperationOptions>(
      "glob",
      path || this.startDirectory,
      options,
      (inner, target, given) => inner.glob(pattern, target, given),
    );
  }
}

function unavailable(what: string, path: string): FileError {
  return { error: `${what} is not available for ${path}`, code: "UNAVAILABLE" };
}
