/** Backends of the older protocol, whose methods return bare lists and texts, in the form of the present protocol. */
import { parentPath } from "../../paths.ts";
import { encodeBase64 } from "../../text/base64.ts";
import { invalidPattern } from "../../text/find-lines.ts";
import { compileGlob } from "../../text/glob/glob-match.ts";
import { decodeText, mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import { normalizeReadPagination } from "../../text/page.ts";
import { atPath } from "../at-path.ts";
import type {
  AnyFileData,
  BackendProtocol,
  DeleteResult,
  EditResult,
  ExecuteOptions,
  ExecuteResponse,
  FileData,
  FileDownloadResponse,
  FileError,
  FileInfo,
  FilesUpdate,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocol,
  WriteResult,
} from "../backend.ts";
import { currentShape, isText, readFrom, recordMap } from "../file-map/file-map.ts";
import { KeyLock } from "../key-lock.ts";
import { errorIn, olderError } from "./adapt-errors.ts";
import { parseOlderRead } from "./adapt-read.ts";

type Awaitable<T> = T | Promise<T>;

interface OlderChange {
  readonly error?: string | null;
  readonly path?: string | null;
  readonly filesUpdate?: FilesUpdate | null;
  readonly occurrences?: number | null;
}

/** Each method may answer at once or later. */
export interface BackendProtocolV1 {
  lsInfo(path: string): Awaitable<FileInfo[]>;
  /** Plain or numbered text, or the text of an error. */
  read(path: string, offset?: number, limit?: number): Awaitable<string>;
  readRaw?(path: string): Awaitable<AnyFileData>;
  grepRaw(pattern: string, path?: string | null, glob?: string | null): Awaitable<GrepMatch[] | string>;
  globInfo(pattern: string, path?: string): Awaitable<FileInfo[]>;
  write(path: string, content: string): Awaitable<OlderChange>;
  edit(path: string, oldString: string, newString: string, replaceAll?: boolean): Awaitable<OlderChange>;
  delete?(path: string): Awaitable<OlderChange>;
  uploadFiles?(files: [string, Uint8Array][]): Awaitable<FileUploadResponse[]>;
  downloadFiles?(paths: string[]): Awaitable<FileDownloadResponse[]>;
}

export interface SandboxBackendProtocolV1 extends BackendProtocolV1 {
  readonly id: string;
  execute(command: string): Awaitable<ExecuteResponse>;
}

/** A class may keep something of its own under `workingDirectory`, and private. */
export type AnyBackendProtocol = BackendProtocolV1 | Omit<BackendProtocol, "workingDirectory">;
export type AnySandboxProtocol = SandboxBackendProtocolV1 | SandboxBackendProtocol;

const adapted = new WeakMap<object, BackendProtocol>();

/** A backend of the present protocol is returned unchanged; the same older one always gives the same adapter. */
export function currentProtocol(backend: AnyBackendProtocol): BackendProtocol {
  if (!isOlder(backend)) return backend as BackendProtocol;
  const known = adapted.get(backend);
  if (known !== undefined) return known;
  const made = isOlderSandbox(backend) ? new AdaptedSandbox(backend) : new AdaptedBackend(backend);
  adapted.set(backend, made);
  return made;
}

function isOlder(backend: AnyBackendProtocol): backend is BackendProtocolV1 {
  const { lsInfo, grepRaw, globInfo } = backend as Partial<BackendProtocolV1>;
  const { ls, grep, glob } = backend as Partial<BackendProtocol>;
  return Boolean((lsInfo && !ls) || (grepRaw && !grep) || (globInfo && !glob));
}

function isOlderSandbox(backend: BackendProtocolV1): backend is SandboxBackendProtocolV1 {
  return typeof (backend as Partial<SandboxBackendProtocolV1>).execute === "function";
}

class AdaptedBackend implements BackendProtocol {
  readonly #older: BackendProtocolV1 & Partial<BackendProtocol>;
  readonly #turns = new KeyLock();
  readonly delete?: (path: string, options?: OperationOptions) => Promise<DeleteResult>;
  readonly uploadFiles?: BackendProtocol["uploadFiles"];
  readonly downloadFiles?: BackendProtocol["downloadFiles"];

  constructor(older: BackendProtocolV1) {
    this.#older = older as BackendProtocolV1 & Partial<BackendProtocol>;
    if (older.delete) this.delete = (path, options) => this.#delete(path, options);
    if (older.uploadFiles)
      this.uploadFiles = async (files, options) => {
        options?.signal?.throwIfAborted();
        return (await older.uploadFiles?.(files.map(([path, bytes]) => [path, bytes]))) ?? [];
      };
    if (older.downloadFiles)
      this.downloadFiles = async (paths, options) => {
        options?.signal?.throwIfAborted();
        return (await older.downloadFiles?.([...paths])) ?? [];
      };
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return atPath(path || "/", options, async (target) => {
      const older = this.#older;
      const result = filesIn(await (older.lsInfo ? older.lsInfo(target) : older.ls?.(target)), target);
      return this.#unlessFile(result, target);
    });
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return atPath<GlobResult>(path || "/", options, async (target) => {
      const checked = compileGlob(pattern, target);
      if (checked.error !== undefined) return checked;
      const older = this.#older;
      const result: unknown = await (older.globInfo
        ? older.globInfo(pattern, target)
        : older.glob?.(pattern, target));
      return this.#unlessFile(filesIn(result, target), target);
    });
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return atPath<GrepResult>(path || "/", options, async (target) => {
      const invalid = invalidPattern(pattern);
      if (invalid !== undefined) return invalid;
      const checked = glob ? compileGlob(glob, target) : undefined;
      if (checked?.error !== undefined) return checked;
      const older = this.#older;
      const result: unknown = await (older.grepRaw
        ? older.grepRaw(pattern, target, glob)
        : older.grep?.(pattern, target, glob, maxCount));
      return matchesIn(result, target, maxCount);
    });
  }

  /** The raw file shows line ends and the number of lines, which the text of a page does not. */
  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return atPath<ReadResult>(path, options, async (target) => {
      if (!this.#older.readRaw) return this.#readPage(target, normalizeReadPagination(offset, limit));
      const raw = await this.#raw(target);
      return raw.error !== undefined
        ? raw
        : readFrom(recordMap({ [target]: raw.data }), target, offset, limit);
    });
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return atPath<ReadRawResult>(path, options, async (target) => {
      if (this.#older.readRaw) return this.#raw(target);
      if (this.downloadFiles) return this.#downloaded(target, options);
      const page = await this.#readPage(target, { offset: 0, limit: Number.MAX_SAFE_INTEGER });
      return page.error !== undefined ? page : { data: fileData(target, page.content) };
    });
  }

  /** Some older backends overwrite, so whether the file is there is asked first. */
  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#inTurn<WriteResult>(path, options, async (target) => {
      const existing = await this.read(target, 0, 1, options);
      const isThere = existing.error === undefined;
      if (isThere && !options?.overwrite) return fileExists(target);
      const result = changeOf(await this.#older.write(target, content), target);
      if (result.error === undefined || result.code !== "FILE_EXISTS" || !isThere || !this.delete)
        return result;
      const removed = await this.delete(target, options);
      return removed.error === undefined
        ? changeOf(await this.#older.write(target, content), target)
        : removed;
    });
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#inTurn<EditResult>(path, options, async (target) => {
      const older = await this.#older.edit(target, oldString, newString, replaceAll);
      const result = changeOf(older, target);
      return result.error !== undefined ? result : { ...result, occurrences: older.occurrences ?? 1 };
    });
  }

  async #delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return atPath<DeleteResult>(path, options, async (target) =>
      changeOf((await this.#older.delete?.(target)) ?? {}, target),
    );
  }

  /** Changes of one file run one after the other, so that checks still hold when the change is made. */
  #inTurn<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (target: string) => Promise<Result>,
  ): Promise<Result | FileError> {
    return atPath(path, options, (target) => this.#turns.take(target, () => act(target)));
  }

  async #readPage(path: string, { offset, limit }: { offset: number; limit: number }): Promise<ReadResult> {
    const text: unknown = await this.#older.read(path, offset, limit);
    if (typeof text !== "string") return text as ReadResult;
    const page = parseOlderRead(text, offset);
    if (page.error !== undefined) return page;
    const mimeType = mimeTypeOfText(path);
    if (page.lines === 0 && offset === 0) return { content: "", mimeType, totalLines: 0 };
    const endLine = offset + page.lines;
    const place = { mimeType, startLine: offset + 1, endLine };
    const atEnd = page.lines < limit || (await this.#endsAt(path, endLine));
    return {
      content: page.content,
      ...place,
      ...(atEnd ? { totalLines: endLine } : { nextOffset: endLine }),
    };
  }

  #raw(path: string): Promise<ReadRawResult> {
    return rawOf(path, () => this.#older.readRaw?.(path));
  }

  /** Older listings of a file are empty. */
  async #unlessFile<Result extends { files?: FileInfo[]; error?: string }>(
    result: Result,
    path: string,
  ): Promise<Result | FileError> {
    if (path === "/" || result.error !== undefined || result.files?.length !== 0) return result;
    const file = await this.read(path, 0, 1);
    if (file.error !== undefined) return result;
    return { error: `'${path}' is a file, not a directory`, code: "NOT_A_DIRECTORY" };
  }

  async #endsAt(path: string, offset: number): Promise<boolean> {
    const text: unknown = await this.#older.read(path, offset, 1);
    return typeof text !== "string" || text === "" || parseOlderRead(text, offset).error !== undefined;
  }

  async #downloaded(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    const [file] = (await this.downloadFiles?.([path], options)) ?? [];
    if (file?.content) return { data: fileData(path, file.content) };
    const reason = file?.error ?? "file_not_found";
    return olderError(reason === "file_not_found" ? `File '${path}' not found` : `'${path}': ${reason}`);
  }
}

class AdaptedSandbox extends AdaptedBackend implements SandboxBackendProtocol {
  readonly #sandbox: SandboxBackendProtocolV1;

  constructor(sandbox: SandboxBackendProtocolV1) {
    super(sandbox);
    this.#sandbox = sandbox;
  }

  get id(): string {
    return this.#sandbox.id;
  }

  /** An older sandbox gets no abort signal: its command may continue, but the call returns. */
  async execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    const { signal } = options ?? {};
    signal?.throwIfAborted();
    const execute = this.#sandbox.execute as (command: string, options?: ExecuteOptions) => unknown;
    const running = Promise.resolve(execute.call(this.#sandbox, command, options));
    return executed(await (signal ? Promise.race([running, aborted(signal)]) : running));
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function executed(result: unknown): ExecuteResponse {
  const { output, exitCode, exit_code, truncated, signal } = result as Record<string, unknown>;
  const code = exitCode ?? exit_code;
  return {
    output: typeof output === "string" ? output : "",
    exitCode: typeof code === "number" ? code : null,
    truncated: truncated === true,
    ...(typeof signal === "string" ? { signal } : {}),
  };
}

function filesIn(result: unknown, base: string): LsResult {
  if (typeof result === "string") return olderError(result);
  if (!Array.isArray(result)) {
    const failed = errorIn((result ?? {}) as { error?: unknown });
    return failed ?? (result as LsResult);
  }
  const files = (result as FileInfo[]).map((info) => ({ ...info, path: wholePath(info, base) }));
  return { files: files.sort((one, other) => compare(one.path, other.path)) };
}

/** Some give paths relative to where they looked, and directories without their slash. */
function wholePath({ path, is_dir }: FileInfo, base: string): string {
  const whole = path.startsWith("/") ? path : `${base === "/" ? "" : base}/${path.replace(/^\.\//, "")}`;
  return is_dir && !whole.endsWith("/") ? `${whole}/` : whole;
}

function matchesIn(result: unknown, base: string, maxCount?: number | null): GrepResult {
  if (typeof result === "string")
    return /^no matches found/i.test(result) ? { matches: [] } : olderError(result);
  if (!Array.isArray(result)) return errorIn((result ?? {}) as object) ?? (result as GrepResult);
  const isFile = (result as GrepMatch[]).some(({ path }) => path === base);
  const directory = isFile ? parentPath(base) : base;
  const matches = (result as GrepMatch[])
    .map((match) => ({ ...match, path: wholePath({ path: match.path }, directory) }))
    .sort((one, other) => compare(one.path, other.path) || one.line - other.line);
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : matches.length;
  return matches.length <= cap ? { matches } : { matches: matches.slice(0, cap), truncated: true };
}

function changeOf(result: OlderChange, path: string): WriteResult {
  const failed = errorIn(result);
  if (failed !== undefined) return failed;
  const { filesUpdate } = result;
  return { path: result.path || path, ...(filesUpdate === undefined ? {} : { filesUpdate }) };
}

/** Older backends throw where there is no file. */
async function rawOf(path: string, readRaw: () => unknown): Promise<ReadRawResult> {
  let result: unknown;
  try {
    result = await readRaw();
  } catch (error) {
    const failed = error instanceof Error ? olderError(error.message) : undefined;
    if (failed === undefined || failed.code === "UNAVAILABLE") throw error;
    return failed;
  }
  if (typeof result === "string") return olderError(result);
  const failed = errorIn(result as object);
  if (failed !== undefined) return failed;
  const data = ((result as { data?: AnyFileData }).data ?? result) as AnyFileData;
  return { data: withType(path, currentShape(data)) };
}

function withType(path: string, data: FileData): FileData {
  const content: unknown = data.content;
  if (content instanceof Uint8Array) return { ...data, ...fileData(path, content) };
  return data.mimeType === undefined && isText(data) ? { ...data, mimeType: mimeTypeOfText(path) } : data;
}

function fileData(path: string, content: string | Uint8Array): FileData {
  const now = new Date().toISOString();
  const times = { created_at: now, modified_at: now };
  if (typeof content === "string") return { content, mimeType: mimeTypeOfText(path), ...times };
  const text = decodeText(content);
  const mimeType = mimeTypeOfBytes(path, content, text !== undefined);
  return { content: text ?? encodeBase64(content), mimeType, ...times };
}

function fileExists(path: string): WriteResult {
  return {
    error: `Cannot write to ${path} because it already exists. Read and then make an edit, or write to a new path.`,
    code: "FILE_EXISTS",
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
