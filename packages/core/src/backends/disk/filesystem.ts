/**
 * Files on the disk of this machine, below one directory.
 *
 * Nothing outside `rootDir` can be reached, by any spelling or link. Other readers see every change as one step, and
 * changes to one file run one after the other, also between processes. Paths are NFC; a file whose name is stored in
 * another form is found by it.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, type Stats } from "node:fs";
import { CHILD_FILES, GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { canonicalPath, isWithin, showPath } from "../../paths.ts";
import { decodeText, mimeTypeOfBytes } from "../../text/mime.ts";
import { writtenBytes } from "../../text/written-bytes.ts";
import { isApprovedCall } from "../approved-call.ts";
import type {
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
import type { ChildFiles, ChildFilesRequest } from "../child-files.ts";
import { ownBytes } from "../file-map/file-map.ts";
import { isHarnessCall } from "../harness-call.ts";
import { openCheckOf } from "../open-check.ts";
import { transferError } from "../transfer-error.ts";
import { undoLogOf } from "../undo-log.ts";
import { withMembers } from "../with-members.ts";
import { readAll } from "./atomic-write.ts";
import { appendText, editText, writeBytes, writeText } from "./change-file.ts";
import { listChildFiles } from "./child-files.ts";
import { deleteAt } from "./delete-tree.ts";
import { decodeBytes } from "./encoding/text-codec.ts";
import { asFileError, whyNotPlain } from "./file-errors.ts";
import {
  type FilesystemBackendOptions,
  type FilesystemSettings,
  filesystemSettings,
} from "./filesystem-options.ts";
import { listDirectory } from "./list-directory.ts";
import type { ChangeRequest, RecordedChange } from "./locked-change.ts";
import { readPage } from "./read-page.ts";
import { ContainedRoot } from "./root/contained-root.ts";
import { isControlPath, isHarnessPath, lenientSpelling } from "./root/control-files.ts";
import { ControlLinks } from "./root/control-links.ts";
import { type PathRequest, resolveChecked } from "./root/resolve-checked.ts";
import { ambiguousOnWindows } from "./root/windows-names.ts";
import { globDisk, grepDisk } from "./search/search.ts";
import type { SearchRequest } from "./search/search-start.ts";
import { breathe } from "./time-slices.ts";
import { undoTreeName, undoTreeNameOf } from "./undo-tree.ts";

const MEGABYTE = 1024 * 1024;

/** The run a call belongs to, by the backend that was asked. */
const running = new AsyncLocalStorage<{ readonly backend: object; readonly runtime: BackendRuntime }>();

/** Directories with content that the harness moved out of a conversation: not the user's files, so never put back. */
const HARNESS_AREAS = ["/.deepwright", "/large_tool_results", "/conversation_history"];

interface ChangingCall {
  /** The path from the caller. */
  readonly path: string;
  readonly byHarness: boolean;
}

export class FilesystemBackend implements BackendProtocol {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly workingDirectory: string;
  /** As the volumes of these systems usually do. */
  readonly ignoresCase = process.platform === "darwin" || process.platform === "win32";
  protected readonly settings: FilesystemSettings;
  /** `rootDir`. */
  readonly #home: ContainedRoot;
  /** All that can be reached: `rootDir`, or with `allowOutsideRoot` the host. */
  readonly #root: ContainedRoot;
  readonly #controlLinks: ControlLinks;

  /** For subclasses: the root on the host. */
  protected get cwd(): string {
    return this.settings.rootDir;
  }

  protected get virtualMode(): boolean {
    return this.settings.virtualMode;
  }

  /** Looks at no file. */
  constructor(options: FilesystemBackendOptions = {}) {
    this.settings = filesystemSettings(options);
    const { rootDir, allowOutsideRoot, workingDirectory, openStrategy } = this.settings;
    this.workingDirectory = workingDirectory;
    this.#home = new ContainedRoot(rootDir, { mountedAt: workingDirectory, strategy: openStrategy });
    this.#root = allowOutsideRoot ? new ContainedRoot("/", { strategy: openStrategy }) : this.#home;
    this.#controlLinks = new ControlLinks(this.#home);
  }

  /**
   * Lets go of `rootDir`, which is held open from its first use on. The backend can be used again: it then opens the
   * directory that is there now. Closing twice is safe.
   */
  async close(): Promise<void> {
    this.#home.close();
    this.#root.close();
  }

  /** The same backend; its changes leave before-images with the thread of the run. */
  withRuntime(runtime: BackendRuntime): this {
    const current = { backend: this, runtime };
    return withMembers(
      this,
      {},
      (_key, method) =>
        (...args) =>
          running.run(current, () => method(...args)),
    );
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || ".", (target) => listDirectory(this.#place(target, options), options?.signal));
  }

  /** For speed only: see `../child-files.ts`. Not where a subclass reads in its own way. */
  get [CHILD_FILES]():
    | ((path: string, request: ChildFilesRequest) => Promise<ChildFiles | FileError>)
    | undefined {
    const { read, ls } = FilesystemBackend.prototype;
    if (this.read !== read || this.ls !== ls) return undefined;
    return (path, request) => this.#at(path, (target) => listChildFiles(this.#root, target, request));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#withFile(path, options, (fd, stats, target) =>
      readPage(fd, stats, target, offset, limit, options?.signal),
    );
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#withFile(path, options, async (fd, stats, target): Promise<ReadRawResult> => {
      if (stats.size > this.settings.maxEditSizeMb * MEGABYTE)
        return { error: `'${showPath(target)}' is too large to be read as a whole`, code: "TOO_LARGE" };
      const bytes = await readAll(fd, stats.size, { signal: options?.signal });
      const text = decodeText(bytes) ?? decodeBytes(bytes)?.text;
      return {
        data: {
          content: text ?? ownBytes(bytes),
          mimeType: mimeTypeOfBytes(target, bytes, text !== undefined),
          created_at: stats.birthtime.toISOString(),
          modified_at: stats.mtime.toISOString(),
        },
      };
    });
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#at(path, (target) => {
      const bytes = writtenBytes(target, content);
      const change = this.#change(target, options);
      return bytes === undefined
        ? writeText(change, content, options?.overwrite)
        : writeBytes(change, bytes, options?.overwrite);
    });
  }

  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#at(path, (target) => appendText(this.#change(target, options), content));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    const maxSize = this.settings.maxEditSizeMb * MEGABYTE;
    return this.#at(path, (target) =>
      editText(this.#change(target, options), { oldString, newString, replaceAll, maxSize }),
    );
  }

  /** A link is deleted itself. The root cannot be deleted, nor a directory it lies in. */
  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#at(path, async (target): Promise<DeleteResult> => {
      if (this.#holdsRoot(target))
        return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
      return deleteAt(this.#change(target, options));
    });
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    const { maxFileSizeMb } = this.settings;
    return this.#at(path || ".", (target) =>
      grepDisk({
        ...this.#search(target, pattern, options),
        glob,
        maxCount,
        maxFileSizeBytes: maxFileSizeMb * MEGABYTE,
      }),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || ".", (target) => globDisk(this.#search(target, pattern, options)));
  }

  /** Replaces what is there. */
  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    const responses: FileUploadResponse[] = [];
    for (const [path, bytes] of files) {
      const result = await this.#at(path, (target) => writeBytes(this.#change(target, options), bytes, true));
      responses.push({ path, error: result.error === undefined ? null : transferError(result) });
    }
    return responses;
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    const responses: FileDownloadResponse[] = [];
    for (const path of paths) {
      const result = await this.#withFile(path, options, async (fd, stats) => ({
        content: await readAll(fd, stats.size, { signal: options?.signal }),
        error: undefined,
      }));
      responses.push(
        result.error === undefined
          ? { path, content: result.content, error: null }
          : { path, content: null, error: transferError(result) },
      );
    }
    return responses;
  }

  async realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    options?.signal?.throwIfAborted();
    const result = await this.#at(path, async (target) => {
      const place = this.#root.resolve(target);
      place.directory?.close();
      return { path: place.path, error: undefined };
    });
    return result.error === undefined ? result.path : result;
  }

  /** Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. */
  async #at<Result>(path: string, act: (target: string) => Promise<Result>): Promise<Result | FileError> {
    const canonical = canonicalPath(path, { base: this.workingDirectory });
    if (canonical.error !== undefined) return canonical;
    if (process.platform === "win32" && ambiguousOnWindows(canonical.path) !== undefined)
      return { error: `Path means something else on Windows: ${showPath(path)}`, code: "INVALID_PATH" };
    await breathe();
    try {
      return await act(canonical.path);
    } catch (error) {
      return asFileError(error, canonical.path);
    }
  }

  #withFile<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (fd: number, stats: Stats, target: string) => Promise<Result>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    return this.#at(path, async (target) => {
      const place = await resolveChecked(this.#place(target, options));
      if ("error" in place) return place;
      const opened = this.#root.openFile(target, undefined, place);
      if ("error" in opened) return opened;
      try {
        return whyNotPlain(opened.stats, target) ?? (await act(opened.fd, opened.stats, target));
      } finally {
        closeSync(opened.fd);
      }
    });
  }

  #search(path: string, pattern: string, options: OperationOptions | undefined): SearchRequest {
    const { respectGitignore, searchTimeout } = this.settings;
    return {
      ...this.#place(path, options),
      pattern,
      respectGitignore,
      timeoutSeconds: searchTimeout,
      signal: options?.signal,
    };
  }

  /** The harness follows no link of the workspace in its own areas, nor to anything it changes. */
  #place(path: string, options: OperationOptions | undefined, isChange = false): PathRequest {
    const refuseLinks = isHarnessCall(options) && (isChange || this.#isHarnessFile(path));
    return { root: this.#root, path, openCheck: openCheckOf(options), refuseLinks };
  }

  #change(path: string, options: OperationOptions | undefined): ChangeRequest {
    const current = running.getStore();
    const runtime = current?.backend === this ? current.runtime : undefined;
    const log = runtime && undoLogOf(runtime);
    const isApproved = runtime !== undefined && isApprovedCall(runtime);
    const byHarness = isHarnessCall(options);
    const { maxWriteSizeMb } = this.settings;
    return {
      ...this.#place(path, options, true),
      maxBytes: maxWriteSizeMb && maxWriteSizeMb * MEGABYTE,
      signal: options?.signal,
      // An approval covers the path that the person saw, not everything below it.
      refuse: async (target) =>
        isApproved && target === path ? undefined : this.#refuse(target, { path, byHarness }),
      record:
        log && !this.#isHarnessFile(path)
          ? (change) => log.record({ before: change.before, after: change.after, ...this.#undoEntry(change) })
          : undefined,
    };
  }

  async #refuse(target: string, call: ChangingCall): Promise<FileError | undefined> {
    const inside = this.#fromRoot(target);
    if (this.#steers(inside) ? call.byHarness && isHarnessPath(inside) : !this.#steersByLink(inside, call))
      return undefined;
    if ((await this.settings.approve?.(inside)) === true) return undefined;
    return {
      error: `'${showPath(target)}' steers other programs: a person has to approve a change to it`,
      code: "APPROVAL_REQUIRED",
    };
  }

  #steers(inside: string): boolean {
    if (isControlPath(inside)) return true;
    const spelled = lenientSpelling(inside);
    return this.settings.controlPaths.some((path) => isWithin(spelled, path));
  }

  /** A change by the name of the link was asked about under that name. */
  #steersByLink(inside: string, { path, byHarness }: ChangingCall): boolean {
    return !byHarness && !this.#steers(this.#fromRoot(path)) && this.#controlLinks.leadTo(inside);
  }

  /** The path below `rootDir`; other paths stay host paths. */
  #fromRoot(path: string): string {
    if (!this.settings.allowOutsideRoot) return this.#root.pathInside(path);
    if (this.workingDirectory === "/" || !isWithin(path, this.workingDirectory)) return path;
    return path.slice(this.workingDirectory.length) || "/";
  }

  /** Whether the path, by any name, is the root or above it. */
  #holdsRoot(path: string): boolean {
    if (isWithin(this.workingDirectory, path)) return true;
    const { allowOutsideRoot, rootDir } = this.settings;
    if (!allowOutsideRoot) return this.#fromRoot(path) === "/";
    const place = this.#root.resolve(path, { keepLink: true });
    place.directory?.close();
    return isWithin(this.#home.realHostPath() ?? rootDir, place.path);
  }

  #isHarnessFile(path: string): boolean {
    const inside = this.#fromRoot(path);
    return HARNESS_AREAS.some((area) => isWithin(inside, area));
  }

  /** A change that is only noted has a tree name of its own, so that it is not taken for a file that did not exist. */
  #undoEntry({ path, isTooLarge }: RecordedChange): { readonly place: string; readonly path: string } {
    const { allowOutsideRoot, rootDir } = this.settings;
    const elsewhere = allowOutsideRoot && !isWithin(path, this.workingDirectory);
    const real = elsewhere ? "/" : this.#home.realHostPath();
    const place = real === undefined ? undoTreeName(rootDir) : undoTreeNameOf(real);
    return { place: isTooLarge ? place.replace("disk:", "large:") : place, path: this.#fromRoot(path) };
  }
}
