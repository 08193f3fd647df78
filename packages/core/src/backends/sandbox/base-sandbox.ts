/**
 * All file operations of a sandbox, derived from three methods of a subclass.
 *
 * `read`, `readRaw`, `write`, `append` and `edit` move files with the subclass's `downloadFiles` and `uploadFiles`, so a
 * subclass may map paths in its own way. `ls`, `glob`, `grep`, `delete` and `realPath` run commands. They need a POSIX
 * shell, the core utilities, `find` and `xargs`, of GNU or busybox. No content and no name is part of a command's code: see `command.ts`.
 *
 * Changes of one path through one object wait for each other. An edit compares the file once more right before its
 * upload. Another process can still change the file while the upload runs: then the last upload wins.
 */
import { checkDurations } from "../../duration.ts";
import { canonicalPath } from "../../paths.ts";
import { encodeBase64 } from "../../text/base64.ts";
import { countLines } from "../../text/lines.ts";
import { mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import { type Page, pageOf } from "../../text/page.ts";
import type {
  DeleteResult,
  EditResult,
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileError,
  FileUploadResponse,
  GlobResult,
  GrepResult,
  LsResult,
  MaybePromise,
  OperationOptions,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocol,
  WriteResult,
} from "../backend.ts";
import { editBytes } from "../disk/encoding/edit-bytes.ts";
import { decodeBytes, encodeText, formatOf } from "../disk/encoding/text-codec.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { MAX_BINARY_BYTES, MAX_PAGE_BYTES } from "../disk/read-page.ts";
import { KeyLock } from "../key-lock.ts";
import { listingOf } from "./listing.ts";
import { failureOf, tooLarge } from "./refusal.ts";
import { type Reply, ScriptRunner } from "./script-runner.ts";
import { DELETE, LOOK, REAL_PATH } from "./scripts.ts";
import { globFiles, grepFiles } from "./search.ts";
import { type Ask, Transfers } from "./transfers.ts";
import { LIST } from "./walk-scripts.ts";

export interface BaseSandboxOptions {
  /** Seconds one command of a file operation may take, and a search in all; default 60. */
  readonly fileTimeout?: number;
  /** Whether searches leave out files that `.gitignore` names; default true. `.git` is always left out. */
  readonly ignoreFiles?: boolean;
}

/** Bytes of a file that can be read or changed. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** How often an edit is made again because the file was changed meanwhile. */
const MAX_ATTEMPTS = 5;

export abstract class BaseSandbox implements SandboxBackendProtocol {
  abstract readonly id: string;
  readonly #fileTimeout: number;
  readonly #ignoreFiles: boolean;
  readonly #transfers = new Transfers({
    uploadFiles: (files, options) => this.uploadFiles(files, options),
    downloadFiles: (paths, options) => this.downloadFiles(paths, options),
  });
  readonly #runner = new ScriptRunner((command, options) => this.execute(command, options), this.#transfers);
  /** Transfers of one path, one after the other. */
  readonly #turns = new KeyLock();

  constructor(options: BaseSandboxOptions = {}) {
    checkDurations({ unit: "seconds" }, { fileTimeout: options.fileTimeout });
    this.#fileTimeout = options.fileTimeout ?? 60;
    this.#ignoreFiles = options.ignoreFiles ?? true;
  }

  /** Runs `command` in a shell. A command that ran out of time has exit code 124; a lost sandbox is thrown. */
  abstract execute(command: string, options?: ExecuteOptions): MaybePromise<ExecuteResponse>;

  /** Stores the bytes unchanged and replaces existing files; the answers are in the order of the input. */
  abstract uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): MaybePromise<FileUploadResponse[]>;

  abstract downloadFiles(
    paths: readonly string[],
    options?: OperationOptions,
  ): MaybePromise<FileDownloadResponse[]>;

  /** Without a working directory the file tools leave relative paths alone. */
  get keepsRelativePaths(): boolean {
    return this.#home === undefined;
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || ".", options, async (ask) =>
      listingOf(await this.#runner.ask(LIST, [ask.operand], ask), ask),
    );
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#inTurn(path, options, async (ask): Promise<ReadResult> => {
      const { bytes } = await this.#get(ask);
      const decoded = decodeBytes(bytes);
      if (decoded === undefined) {
        if (bytes.length > MAX_BINARY_BYTES) throw tooLarge(ask.name, bytes.length, MAX_BINARY_BYTES);
        return { content: new Uint8Array(bytes), mimeType: mimeTypeOfBytes(ask.path, bytes, false) };
      }
      const page = pageOf(decoded.text, offset, limit);
      if (page.error !== undefined) return page;
      const shown = page.content.length > MAX_PAGE_BYTES ? cutPage(page) : page;
      const size = shown.totalLines === undefined ? { size: bytes.length } : {};
      return { ...shown, mimeType: mimeTypeOfText(ask.path), ...size };
    });
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#inTurn(path, options, async (ask) => {
      const { bytes, modified } = await this.#get(ask);
      const times = { created_at: modified, modified_at: modified };
      const text = decodeBytes(bytes)?.text;
      if (text !== undefined)
        return { data: { content: text, mimeType: mimeTypeOfText(ask.path), ...times } };
      const mimeType = mimeTypeOfBytes(ask.path, bytes, false);
      return { data: { content: encodeBase64(bytes), mimeType, ...times } };
    });
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#inTurn(path, options, async (ask) => {
      if (!options?.overwrite && (await this.#isThere(ask))) throw failureOf("FILE_EXISTS", ask.name);
      await this.#transfers.put(ask.name, Buffer.from(content), ask);
      return { path: ask.name };
    });
  }

  /** The text gets the encoding of the file. */
  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#inTurn(path, options, async (ask) => {
      const result = { path: ask.name };
      try {
        return await this.#change(ask, (bytes) => ({ bytes: appended(ask, bytes, content), result }));
      } catch (error) {
        if (!(error instanceof FileFailure) || error.result.code !== "FILE_NOT_FOUND") throw error;
        await this.#transfers.put(ask.name, Buffer.from(content), ask);
        return result;
      }
    });
  }

  /** A file that changes between every download and upload is a `CONFLICT`. */
  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#inTurn(path, options, (ask) =>
      this.#change(ask, (bytes) => {
        const edited = editBytes(bytes, oldString, newString, replaceAll, ask.name);
        if (edited.error !== undefined) throw new FileFailure(edited.code, edited.error);
        return { bytes: edited.bytes, result: { path: ask.name, occurrences: edited.occurrences } };
      }),
    );
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#inTurn(path, options, async (ask) => {
      if (ask.path === "/") throw new FileFailure("INVALID_ARGUMENT", "Cannot delete the root directory");
      await this.#runner.ask(DELETE, [ask.operand], ask);
      return { path: ask.name };
    });
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    const request = { pattern, glob, maxCount, ignoreFiles: this.#ignoreFiles };
    return this.#at(path || ".", options, (ask) => grepFiles(this.#runner, this.#transfers, request, ask));
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    const request = { pattern, ignoreFiles: this.#ignoreFiles };
    return this.#at(path || ".", options, (ask) => globFiles(this.#runner, request, ask));
  }

  async realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    return this.#at(path, options, async (ask): Promise<string | FileError> => {
      const { bytes } = await this.#runner.ask(REAL_PATH, [ask.operand], ask);
      const real = canonicalPath(bytes.toString("utf8") || "/");
      return real.error === undefined ? real.path : real;
    });
  }

  /**
   * The `workingDirectory` of a subclass, absolute. Absent, or not a path: relative paths reach transfers and commands
   * as they are. It is not declared here, so that a subclass may keep it private.
   */
  get #home(): string | undefined {
    const directory: unknown = (this as SandboxBackendProtocol).workingDirectory;
    if (typeof directory !== "string" || !directory.startsWith("/")) return undefined;
    return canonicalPath(directory).path;
  }

  /** The whole file, and its time in ISO 8601. Throws a `FileFailure` when there is none or it is too large. */
  async #get(ask: Ask): Promise<{ readonly bytes: Buffer; readonly modified: string }> {
    const modified = await this.#look(ask);
    const bytes = await this.#transfers.get(ask.name, ask);
    if (typeof bytes === "string") throw failureOf(bytes, ask.name);
    if (bytes.length > MAX_FILE_BYTES) throw tooLarge(ask.name, bytes.length, MAX_FILE_BYTES);
    return { bytes, modified: (modified ?? new Date()).toISOString() };
  }

  /**
   * Looks at the file before it is transferred: a pipe would hang, a huge file would fill the memory. The transfer
   * decides everything else, because a subclass may map paths. Returns the modification time if it is known.
   */
  async #look(ask: Ask): Promise<Date | undefined> {
    const reply: Reply | undefined = await this.#runner.ask(LOOK, [ask.operand], ask).catch((error) => {
      ask.signal?.throwIfAborted();
      if (error instanceof FileFailure && error.result.code === "SPECIAL_FILE") throw error;
      return undefined;
    });
    const [size = 0, seconds = Number.NaN] = (reply?.bytes.toString("latin1") ?? "").split(" ").map(Number);
    if (size > MAX_FILE_BYTES) throw tooLarge(ask.name, size, MAX_FILE_BYTES);
    const modified = new Date(seconds * 1000);
    return Number.isNaN(modified.getTime()) ? undefined : modified;
  }

  async #isThere(ask: Ask): Promise<boolean> {
    try {
      await this.#get(ask);
      return true;
    } catch (error) {
      if (!(error instanceof FileFailure)) throw error;
      const { code } = error.result;
      if (code === "FILE_NOT_FOUND") return false;
      if (code === "TOO_LARGE") return true;
      throw code === "IS_DIRECTORY" ? failureOf("is_directory", ask.name, "write") : error;
    }
  }

  /** Replaces a file by the result of `change`. Starts again when the file is another one right before the upload. */
  async #change<Result>(
    ask: Ask,
    change: (bytes: Buffer) => { readonly bytes: Buffer; readonly result: Result },
  ): Promise<Result> {
    let { bytes: old } = await this.#get(ask);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { bytes, result } = change(old);
      const now = await this.#transfers.get(ask.name, ask);
      if (typeof now === "string") throw failureOf(now, ask.name);
      if (now.equals(old)) {
        await this.#replace(ask, old, bytes);
        return result;
      }
      old = now;
    }
    throw failureOf("CHANGED", ask.name);
  }

  /** Puts the old content back when the upload of the new one fails half-way. */
  async #replace(ask: Ask, old: Buffer, bytes: Buffer): Promise<void> {
    try {
      await this.#transfers.put(ask.name, bytes, ask);
    } catch (error) {
      await this.#transfers.put(ask.name, old, {}).catch(() => undefined);
      throw error;
    }
  }

  async #inTurn<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (ask: Ask) => Promise<Result>,
  ): Promise<Result | FileError> {
    return this.#at(path, options, (ask) => this.#turns.take(ask.name, () => act(ask)));
  }

  /** Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. */
  async #at<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (ask: Ask) => Promise<Result>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    const home = this.#home;
    const canonical = canonicalPath(path, { base: home ?? "/" });
    if (canonical.error !== undefined) return canonical;
    const isRelative = home === undefined && !/^[\\/]/.test(path);
    try {
      return await act({
        path: canonical.path,
        name: isRelative ? canonical.path.slice(1) || "." : canonical.path,
        operand: isRelative ? `.${canonical.path}`.replace(/\/$/, "") : canonical.path,
        signal: options?.signal,
        timeout: this.#fileTimeout,
      });
    } catch (error) {
      if (error instanceof FileFailure) return error.result;
      throw error;
    }
  }
}

/** Whole lines from the beginning of a page that is too long, or the beginning of its first line. */
function cutPage({ content, startLine = 1 }: Page): Page & { readonly truncated?: true } {
  const head = content.slice(0, MAX_PAGE_BYTES);
  const lines = countLines(head);
  const endLine = startLine + Math.max(lines - 2, 0);
  const cut = { content: head, startLine, endLine, nextOffset: endLine };
  if (lines === 1) return { ...cut, truncated: true };
  return { ...cut, content: (pageOf(head, 0, lines - 1) as Page).content };
}

function appended({ name }: Ask, bytes: Buffer, content: string): Buffer {
  const format = formatOf(bytes);
  if (format === undefined) throw new FileFailure("NOT_TEXT", `'${name}' is not a text file (unknown type)`);
  const addition = encodeText(content, format.encoding, false);
  if (addition.error !== undefined) throw new FileFailure(addition.code, addition.error);
  return Buffer.concat([bytes, addition.bytes]);
}
