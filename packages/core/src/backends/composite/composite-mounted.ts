/** Several backends as one: each operation goes to the backend that its path leads to. */

import { canonicalPath } from "../../paths.ts";
import { GIVES_OUR_RESULTS } from "../adapt/foreign-results.ts";
import { readRawFile } from "../adapt/raw-file.ts";
import type {
  BackendProtocol,
  DeleteResult,
  EditResult,
  ExecuteOptions,
  ExecuteResponse,
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
import { reachOfMounts, withCommandReach } from "../command-reach.ts";
import { commandNoteOf, isSandboxProtocol } from "../is-sandbox.ts";
import { offersDelete } from "../offered-delete.ts";
import {
  innerOptions,
  innerPath,
  type Mount,
  mountOf,
  mountsBelow,
  outerError,
  outerPath,
} from "./composite-routes.ts";
import { globMounts, grepMounts, leadsToMount, lsMounts } from "./composite-search.ts";

type Uploads = readonly (readonly [string, Uint8Array])[];
type UploadResponses = FileUploadResponse[] & { filesUpdate?: FilesUpdate };

export class MountedBackends implements BackendProtocol {
  static readonly [GIVES_OUR_RESULTS] = true;
  /** Those of the default when it can run commands, else `""` and nothing. */
  readonly id: string;
  readonly enforcesPermissions?: true;
  readonly closesPaths?: true;
  readonly execute?: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;
  readonly append?: (path: string, content: string, options?: OperationOptions) => Promise<WriteResult>;
  readonly delete?: (path: string, options?: OperationOptions) => Promise<DeleteResult>;
  readonly uploadFiles?: (files: Uploads, options?: OperationOptions) => Promise<UploadResponses>;
  readonly downloadFiles?: (
    paths: readonly string[],
    options?: OperationOptions,
  ) => Promise<FileDownloadResponse[]>;
  readonly realPath?: (path: string, options?: OperationOptions) => Promise<string | FileError>;
  readonly #mounts: readonly Mount[];
  readonly #default: BackendProtocol;

  /** `mounts` are ordered, longest first; the default is the last. */
  constructor(mounts: readonly Mount[]) {
    this.#mounts = mounts;
    this.#default = (mounts.at(-1) as Mount).backend;
    const sandbox = isSandboxProtocol(this.#default) ? this.#default : undefined;
    this.id = sandbox?.id ?? "";
    const can = (method: keyof BackendProtocol) =>
      mounts.some(({ backend }) => backend[method] !== undefined);
    if (sandbox?.enforcesPermissions) this.enforcesPermissions = true;
    if (sandbox?.closesPaths) this.closesPaths = true;
    if (sandbox) this.execute = async (command, options) => sandbox.execute(command, options);
    if (can("append")) this.append = (...given) => this.#append(...given);
    if (mounts.some(({ backend }) => offersDelete(backend)))
      this.delete = (...given) => this.#delete(...given);
    if (can("uploadFiles")) this.uploadFiles = (...given) => this.#upload(...given);
    if (can("downloadFiles")) this.downloadFiles = (...given) => this.#download(...given);
    if (can("realPath")) this.realPath = (...given) => this.#realPath(...given);
    const others = mounts.slice(0, -1).map(({ prefix, backend }) => ({ prefix, source: backend }));
    withCommandReach(this, reachOfMounts(others));
  }

  get workingDirectory(): string | undefined {
    return this.#default.workingDirectory;
  }

  get commandNote(): string {
    return commandNoteOf(this.#default);
  }

  /** Whether one of them does. */
  get ignoresCase(): boolean {
    return this.#mounts.some(({ backend }) => backend.ignoresCase === true);
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || "/", (target) => lsMounts(this.#mounts, target, options));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#on(path, isDirectory, options, ({ backend }, inner, given) =>
      backend.read(inner, offset, limit, given),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#on(path, isDirectory, options, ({ backend }, inner, given) =>
      readRawFile(backend, inner, given),
    );
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#on(path, cannotWrite, options, ({ backend }, inner, given) =>
      backend.write(inner, content, given),
    );
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#on(path, isDirectory, options, ({ backend }, inner, given) =>
      backend.edit(inner, oldString, newString, replaceAll, given),
    );
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#at(path || "/", (target) =>
      grepMounts(this.#mounts, { pattern, glob, maxCount }, target, options),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || "/", (target) => globMounts(this.#mounts, pattern, target, options));
  }

  #append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#on(path, cannotWrite, options, ({ backend }, inner, given) =>
      backend.append ? backend.append(inner, content, given) : unavailable("Appending", path),
    );
  }

  /** What is mounted stays mounted: neither a mount point nor a directory that holds one can go. */
  async #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#on(
      path,
      (target) => whyNotDeleted(this.#mounts, target),
      options,
      ({ backend }, inner, given) =>
        offersDelete(backend) ? backend.delete(inner, given) : unavailable("Deleting", path),
    );
  }

  async #realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    return this.#at<string | FileError>(path, async (target) => {
      const mount = mountOf(this.#mounts, target);
      const real =
        (await mount.backend.realPath?.(innerPath(mount, target), options)) ?? innerPath(mount, target);
      return typeof real === "string" ? outerPath(mount, real) : outerError(mount, target, real);
    });
  }

  async #upload(files: Uploads, options?: OperationOptions): Promise<UploadResponses> {
    const responses: UploadResponses = [];
    await this.#eachMount(
      files.map(([path]) => path),
      (index, error) => {
        responses[index] = { path: files[index]?.[0] as string, error };
      },
      async (mount, places) => {
        const uploads = places.map(({ inner, index }) => [inner, files[index]?.[1] as Uint8Array] as const);
        const made: UploadResponses | undefined = await mount.backend.uploadFiles?.(
          uploads,
          innerOptions(mount, options),
        );
        if (made?.filesUpdate) responses.filesUpdate = { ...responses.filesUpdate, ...made.filesUpdate };
        return made?.map(({ error }) => error);
      },
    );
    return responses;
  }

  async #download(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const responses: FileDownloadResponse[] = [];
    await this.#eachMount(
      paths,
      (index, error) => {
        responses[index] ??= { path: paths[index] as string, content: null, error };
      },
      async (mount, places) => {
        const wanted = places.map(({ inner }) => inner);
        const made = await mount.backend.downloadFiles?.(wanted, innerOptions(mount, options));
        made?.forEach(({ content, error }, place) => {
          const index = places[place]?.index as number;
          responses[index] = { path: paths[index] as string, content, error };
        });
        return made?.map(({ error }) => error);
      },
    );
    return responses;
  }

  /** One call for all files of a mount, all mounts at once; each file is answered in its own place. */
  async #eachMount(
    paths: readonly string[],
    answer: (index: number, error: FileUploadResponse["error"]) => void,
    transfer: (
      mount: Mount,
      places: readonly { readonly inner: string; readonly index: number }[],
    ) => Promise<readonly FileUploadResponse["error"][] | undefined>,
  ): Promise<void> {
    const groups = new Map<Mount, { inner: string; index: number }[]>();
    paths.forEach((given, index) => {
      const { path } = canonicalPath(given, { base: this.workingDirectory });
      if (path === undefined) answer(index, "invalid_path");
      else if (leadsToMount(this.#mounts, path)) answer(index, "is_directory");
      else {
        const mount = mountOf(this.#mounts, path);
        const places = groups.get(mount) ?? [];
        places.push({ inner: innerPath(mount, path), index });
        groups.set(mount, places);
      }
    });
    await Promise.all(
      [...groups].map(async ([mount, places]) => {
        const errors = await transfer(mount, places);
        places.forEach(({ index }, place) => {
          answer(index, errors === undefined ? "permission_denied" : (errors[place] ?? null));
        });
      }),
    );
  }

  /** On the backend of `path`; `refuse` says why not where the path is a mount point or leads to one. */
  #on<Result extends { readonly error?: string; readonly path?: string }, Options extends OperationOptions>(
    path: string,
    refuse: (path: string) => FileError,
    options: Options | undefined,
    act: (
      mount: Mount,
      inner: string,
      options: Options | undefined,
    ) => Result | FileError | Promise<Result | FileError>,
  ): Promise<Result | FileError> {
    return this.#at<Result | FileError>(path, async (target) => {
      if (leadsToMount(this.#mounts, target)) return refuse(target);
      const mount = mountOf(this.#mounts, target);
      const result = await act(mount, innerPath(mount, target), innerOptions(mount, options));
      if (result.error !== undefined) return outerError(mount, target, result as FileError);
      return "path" in result && result.path !== undefined
        ? { ...result, path: outerPath(mount, result.path) }
        : result;
    });
  }

  async #at<Result>(path: string, act: (target: string) => Promise<Result>): Promise<Result | FileError> {
    const canonical = canonicalPath(path, { base: this.workingDirectory });
    return canonical.error !== undefined ? canonical : act(canonical.path);
  }
}

function isDirectory(path: string): FileError {
  return { error: `'${path}' is a directory`, code: "IS_DIRECTORY" };
}

function cannotWrite(path: string): FileError {
  return { error: `Cannot write to ${path} because it is a directory`, code: "IS_DIRECTORY" };
}

function whyNotDeleted(mounts: readonly Mount[], path: string): FileError {
  if (path === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
  const [below] = mountsBelow(mounts, path);
  const reason = below === undefined ? "it is a mount point" : `${below.prefix} in it is a mount point`;
  return { error: `Cannot delete ${path} because ${reason}`, code: "PERMISSION_DENIED" };
}

function unavailable(what: string, path: string): FileError {
  return { error: `${what} is not available for ${path}`, code: "UNAVAILABLE" };
}
