/** A preview of an agent's changes: reads go through, changes stay here. */

import { canonicalPath, parentPath } from "../../paths.ts";
import { type AnyBackendProtocol, currentProtocol } from "../adapt/adapt.ts";
import { withOurResults } from "../adapt/foreign-results.ts";
import { readRawFile } from "../adapt/raw-file.ts";
import { sameDemand } from "../approval-demand.ts";
import { atPath } from "../at-path.ts";
import type {
  AnyFileData,
  BackendProtocol,
  BackendRuntime,
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
import { bytesOf, type FileMap, missing, readFrom, readRawFrom } from "../file-map/file-map.ts";
import { type Change, planAppend, planEdit, planUpload, planWrite } from "../file-map/file-map-change.ts";
import { KeyLock } from "../key-lock.ts";
import { bindBackend, mayUseState } from "../resolve.ts";
import { transferError } from "../transfer-error.ts";
import { Overlay, type PreviewChange } from "./preview-overlay.ts";
import { globPreview, grepPreview, lsPreview } from "./preview-search.ts";

export type { PreviewChange } from "./preview-overlay.ts";

export interface PreviewBackend extends BackendProtocol {
  /** Every file that would be another one now, sorted by path. */
  changes(): PreviewChange[];
}

/** It has no `execute`, because effects of a command cannot be held back. */
export function previewBackend(inner: AnyBackendProtocol): PreviewBackend {
  return new Preview(withOurResults(currentProtocol(inner)), new Overlay(), new KeyLock());
}

class Preview implements PreviewBackend {
  readonly #inner: BackendProtocol;
  readonly #overlay: Overlay;
  readonly #turns: KeyLock;
  readonly realPath?: BackendProtocol["realPath"];

  constructor(inner: BackendProtocol, overlay: Overlay, turns: KeyLock) {
    this.#inner = inner;
    this.#overlay = overlay;
    this.#turns = turns;
    Object.assign(this, sameDemand(inner));
    if (inner.realPath) this.realPath = (path, options) => inner.realPath?.(path, options) ?? path;
  }

  get workingDirectory(): string | undefined {
    return this.#inner.workingDirectory;
  }

  get ignoresCase(): boolean | undefined {
    return this.#inner.ignoresCase;
  }

  get usesState(): boolean {
    return mayUseState(this.#inner);
  }

  changes(): PreviewChange[] {
    return this.#overlay.list();
  }

  /** The same changes over the inner backend's form for one task. */
  withRuntime(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol> {
    const wrap = (inner: BackendProtocol) => new Preview(inner, this.#overlay, this.#turns);
    const bound = bindBackend(this.#inner, runtime);
    return bound instanceof Promise ? bound.then(wrap) : wrap(bound);
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return atPath(path || "/", options, (target) => lsPreview(this.#inner, this.#overlay, target, options));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#reading(
      path,
      options,
      (target) => this.#inner.read(target, offset, limit, options),
      (target) => readFrom(this.#overlay.files, target, offset, limit),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#reading(
      path,
      options,
      (target) => readRawFile(this.#inner, target, options),
      (target) => readRawFrom(this.#overlay.files, target),
    );
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#changing(path, options, (view, target) =>
      planWrite(view, target, content, now(), options?.overwrite),
    );
  }

  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#changing(path, options, (view, target) => planAppend(view, target, content, now()));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    let occurrences = 0;
    const result = await this.#changing(path, options, (view, target) => {
      const edited = planEdit(view, target, oldString, newString, replaceAll, now());
      if (edited.error === undefined) occurrences = edited.occurrences;
      return edited;
    });
    return result.error !== undefined ? result : { ...result, occurrences };
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return atPath(path, options, (target) => this.#turns.take("", () => this.#delete(target, options)));
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return atPath(path || "/", options, (target) =>
      grepPreview(this.#inner, this.#overlay, { pattern, path: target, glob, maxCount }, options),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return atPath(path || "/", options, (target) =>
      globPreview(this.#inner, this.#overlay, pattern, target, options),
    );
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    const responses: FileUploadResponse[] = [];
    for (const [path, bytes] of files) {
      const result = await this.#changing(path, options, (view, target) =>
        planUpload(view, target, bytes, now()),
      );
      responses.push({ path, error: result.error === undefined ? null : transferError(result) });
    }
    return responses;
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    return Promise.all(paths.map((path) => this.#download(path, options)));
  }

  async #download(path: string, options?: OperationOptions): Promise<FileDownloadResponse> {
    const { path: target } = canonicalPath(path);
    if (target !== undefined && this.#inner.downloadFiles && !this.#overlay.covers(target)) {
      const [response] = await this.#inner.downloadFiles([target], options);
      if (response?.content) return { ...response, path };
    }
    const result = await this.readRaw(path, options);
    return result.error === undefined
      ? { path, content: bytesOf(result.data), error: null }
      : { path, content: null, error: transferError(result) };
  }

  async #reading<Result extends { readonly error?: string }>(
    path: string,
    options: OperationOptions | undefined,
    fromInner: (target: string) => Result | FileError | Promise<Result | FileError>,
    fromOverlay: (target: string) => Result | FileError,
  ): Promise<Result | FileError> {
    return atPath<Result | FileError>(path, options, async (target) => {
      if (this.#overlay.covers(target)) return fromOverlay(target);
      const result = await fromInner(target);
      if (result.error === undefined) return result;
      const { code } = result as FileError;
      const isAbsent =
        code === "FILE_NOT_FOUND" || (code === "IS_DIRECTORY" && !(await this.#isSeen(target, options)));
      return isAbsent ? missing(this.#overlay.files, target) : result;
    });
  }

  async #changing(
    path: string,
    options: OperationOptions | undefined,
    plan: (view: FileMap, target: string) => Change,
  ): Promise<{ readonly path: string; readonly error?: undefined } | FileError> {
    return atPath(path, options, (target) =>
      this.#turns.take("", async () => {
        const view = await this.#viewOf(target, options);
        if ("error" in view) return view;
        const change = plan(view, target);
        if (change.error !== undefined) return change;
        this.#overlay.apply(change.update, view.get);
        return { path: target };
      }),
    );
  }

  /** The facts that a change of one file needs: the file, the directories above it, and whether it is a directory. */
  async #viewOf(path: string, options?: OperationOptions): Promise<FileMap | FileError> {
    const known = new Map<string, AnyFileData>();
    const overlay = this.#overlay.files;
    let isDirectory = path === "/" || overlay.holdsUnder(`${path}/`);
    for (let place = path; place !== "/"; place = parentPath(place)) {
      const found = this.#overlay.covers(place)
        ? readRawFrom(overlay, place)
        : await readRawFile(this.#inner, place, options);
      if (found.error === undefined) known.set(place, found.data);
      else if (found.code === "IS_DIRECTORY") {
        isDirectory ||= place === path && (await this.#isSeen(place, options));
        break;
      } else if (found.code !== "FILE_NOT_FOUND" && found.code !== "NOT_A_DIRECTORY" && place === path)
        return found;
    }
    return {
      get: (place) => known.get(place),
      paths: () => [...known.keys()].sort(),
      holdsUnder: (prefix) => isDirectory && prefix === `${path}/`,
    };
  }

  async #isSeen(path: string, options?: OperationOptions): Promise<boolean> {
    if (!this.#overlay.hidesIn(path)) return true;
    const { files } = await lsPreview(this.#inner, this.#overlay, path, options);
    return (files?.length ?? 0) > 0;
  }

  async #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    if (path === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
    const file = await this.readRaw(path, options);
    if (file.error === undefined) {
      this.#overlay.apply({ [path]: null }, () => file.data);
      return { path };
    }
    if (file.code !== "IS_DIRECTORY") return file;
    const doomed = new Map<string, AnyFileData>();
    const problem = await this.#collect(path, doomed, options);
    if (problem !== undefined) return problem;
    options?.signal?.throwIfAborted();
    const update = Object.fromEntries([...doomed.keys()].map((name) => [name, null]));
    this.#overlay.apply(update, (name) => doomed.get(name));
    this.#overlay.removeDirectory(path);
    return { path };
  }

  /** Every file below, including hidden and ignored ones, which a search would leave out. */
  async #collect(
    directory: string,
    files: Map<string, AnyFileData>,
    options?: OperationOptions,
  ): Promise<FileError | undefined> {
    const listed = await this.ls(directory, options);
    if (listed.error !== undefined) return listed;
    for (const { path, is_dir } of listed.files) {
      if (is_dir) {
        const problem = await this.#collect(path.replace(/\/$/, ""), files, options);
        if (problem !== undefined) return problem;
        continue;
      }
      const file = await this.readRaw(path, options);
      if (file.error !== undefined) return file;
      files.set(path, file.data);
    }
    return undefined;
  }
}

function now(): string {
  return new Date().toISOString();
}
