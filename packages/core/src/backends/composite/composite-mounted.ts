/** Several backends as one: each operation goes to the backend that its path leads to. */

import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { canonicalPath } from "../../paths.ts";
import type {
  BackendProtocol,
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileError,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  OperationOptions,
} from "../backend.ts";
import { reachOfMounts, withCommandReach } from "../command-reach.ts";
import {
  type Forwarded,
  type ForwardedOperation,
  ForwardingBackend,
  type UploadResponses,
  type Uploads,
} from "../forwarding-backend.ts";
import { commandNoteOf, isSandboxProtocol } from "../is-sandbox.ts";
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

export class MountedBackends extends ForwardingBackend {
  static readonly [GIVES_OUR_RESULTS] = true;
  /** Id and commands of the default backend when it can run commands, else `""` and nothing. */
  readonly id: string;
  readonly enforcesPermissions?: true;
  readonly closesPaths?: true;
  readonly execute?: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;
  readonly #mounts: readonly Mount[];
  readonly #default: BackendProtocol;

  /** `mounts` are ordered, longest first; the default is the last. */
  constructor(mounts: readonly Mount[]) {
    super();
    this.#mounts = mounts;
    this.#default = (mounts.at(-1) as Mount).backend;
    const sandbox = isSandboxProtocol(this.#default) ? this.#default : undefined;
    this.id = sandbox?.id ?? "";
    if (sandbox?.enforcesPermissions) this.enforcesPermissions = true;
    if (sandbox?.closesPaths) this.closesPaths = true;
    if (sandbox) this.execute = async (command, options) => sandbox.execute(command, options);
    this.offer(
      mounts.map(({ backend }) => backend),
      {
        uploadFiles: (...given) => this.#upload(...given),
        downloadFiles: (...given) => this.#download(...given),
        realPath: (...given) => this.#realPath(...given),
      },
    );
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

  override async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || "/", (target) => lsMounts(this.#mounts, target, options));
  }

  override async grep(
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

  override async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || "/", (target) => globMounts(this.#mounts, pattern, target, options));
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

  /** On the backend of `path`. A mount point, or a directory that leads to one, is refused. */
  protected override forward<
    Result extends { readonly error?: string; readonly path?: string },
    Options extends OperationOptions,
  >(
    operation: ForwardedOperation,
    path: string,
    options: Options | undefined,
    act: Forwarded<Result, Options>,
  ): Promise<Result | FileError> {
    return this.#at<Result | FileError>(path, async (target) => {
      if (leadsToMount(this.#mounts, target)) return this.#refusal(operation, target);
      const mount = mountOf(this.#mounts, target);
      const result = await act(mount.backend, innerPath(mount, target), innerOptions(mount, options));
      if (result.error !== undefined) return outerError(mount, target, result as FileError);
      return "path" in result && result.path !== undefined
        ? { ...result, path: outerPath(mount, result.path) }
        : result;
    });
  }

  #refusal(operation: ForwardedOperation, path: string): FileError {
    if (operation === "delete") return whyNotDeleted(this.#mounts, path);
    return operation === "write" || operation === "append" ? cannotWrite(path) : isDirectory(path);
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

/** Mounted paths stay mounted: neither a mount point nor a directory that holds one can be deleted. */
function whyNotDeleted(mounts: readonly Mount[], path: string): FileError {
  if (path === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
  const [below] = mountsBelow(mounts, path);
  const reason = below === undefined ? "it is a mount point" : `${below.prefix} in it is a mount point`;
  return { error: `Cannot delete ${path} because ${reason}`, code: "PERMISSION_DENIED" };
}
