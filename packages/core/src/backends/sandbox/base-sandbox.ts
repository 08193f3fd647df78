/**
 * All file operations of a sandbox, derived from running a command and moving files in and out.
 *
 * Needed in the sandbox: a POSIX shell and the core utilities, of GNU or busybox. No content and no name is
 * ever part of a command's code: see `command.ts`. Other users within the sandbox, if there are any, could see a small
 * content while it is an argument of a command, and the first large one while it lies in `/tmp`; the others go through
 * a private directory. Paths are real paths of the sandbox, links lead where
 * they lead, and the sandbox itself is the boundary.
 *
 * Calls of `execute`, `uploadFiles` and `downloadFiles` it takes: one for `ls`, `read`, `readRaw`, `glob`, `grep`,
 * `delete`, `realPath`, for `write` and `append` of what fits into 48 KiB of base64, packed where that is known to be
 * possible (36 KiB of noise, some 100 KB of source text), and for an `edit` that a shell can do where the file lies, with
 * texts that fit. Two for larger contents, an upload and a command; for other edits, where the first
 * prints the file; and for answers that do not pack into 48 KiB, and files, which are downloaded. What lies in the
 * sandbox for a download is removed by the next command.
 *
 * A shell edits text of up to 64 MiB with `awk`, `fold` and `sha256sum`, whatever its line ends are and however often
 * it is found: UTF-8 and UTF-16 (with `iconv` beyond ASCII), and other encodings where the texts are ASCII and
 * stand behind ASCII. Else the first command answers with the bytes that tell the encoding, and the second edits or
 * appends in it: two calls. A file that does not pack into 48 KiB and was read or written before is downloaded
 * at once where that may save a call. An edit that is refused for what the file holds takes its download: two.
 *
 * What `grep` finds comes with the answer where it is at most 256 files and 1 MiB in all; else the files are downloaded,
 * up to 8192 of them and 64 MiB at a time: two calls, and one for each more of those.
 *
 * It is more than two for a large file that was never looked at, where those tools are missing, or a text holds a NUL or
 * names bytes that are no characters, or begins with a byte order mark (three); where it is not in Unicode, the texts
 * are not in ASCII, and the edit is refused (three); where it is East Asian and the place may lie within a character, as
 * beside bytes that are none (four). It is one or two more where a text that does not fit goes into such a file, or
 * is put all over a file that was printed; where someone else changed the file meanwhile, the time was up, or a provider
 * cut an answer short (one more each); where nothing can be uploaded to `/tmp` before the first command (two), or what is
 * uploaded is another user's there (three, and an empty file stays in `/tmp`).
 */
import { createHash } from "node:crypto";
import { checkDurations } from "../../duration.ts";
import { canonicalPath } from "../../paths.ts";
import { encodeBase64 } from "../../text/base64.ts";
import { mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
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
import type { Encoding } from "../disk/detect-encoding.ts";
import { editBytes } from "../disk/edit-bytes.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { decodeBytes, encodeText, formatOf } from "../disk/text-codec.ts";
import { Turns } from "../serial.ts";
import { cksum } from "./cksum.ts";
import { commonEnds } from "./common-ends.ts";
import { KnownFiles } from "./known-files.ts";
import { MAX_WHOLE_BYTES } from "./limits.ts";
import { listingOf } from "./listing.ts";
import {
  encodedEdit,
  isAscii,
  type PlainEdit,
  plainEdit,
  type SpelledEdit,
  spelledEdit,
} from "./plain-edit.ts";
import { PUT, PUT_EDIT, type PutDetails, type PutMode, valuesOf } from "./put-script.ts";
import { askWhole, readFile, readWhole, sampleOf, wholeOf } from "./read-file.ts";
import { failureOf, tooLarge, writeFailureOf } from "./refusal.ts";
import { type AskOptions, CutShort, lockName, type Reply, ScriptRunner } from "./script-runner.ts";
import { DELETE, REAL_PATH } from "./scripts.ts";
import { globFiles, grepFiles, type SearchOptions } from "./search.ts";
import { LIST } from "./walk-scripts.ts";

export interface BaseSandboxOptions {
  /** Seconds one command of a file operation may take, and a search in all; default 60. */
  readonly fileTimeout?: number;
  /** Whether searches leave out what `.gitignore` files name; default true. `.git` is always left out. */
  readonly ignoreFiles?: boolean;
}

/** How often an edit is made again because the file was changed meanwhile. */
const MAX_ATTEMPTS = 20;

export abstract class BaseSandbox implements SandboxBackendProtocol {
  abstract readonly id: string;
  readonly workingDirectory?: string;
  readonly #fileTimeout: number;
  readonly #ignoreFiles: boolean;
  readonly #runner = new ScriptRunner({
    execute: (command, options) => this.execute(command, options),
    uploadFiles: (files, options) => this.uploadFiles(files, options),
    downloadFiles: (paths, options) => this.downloadFiles(paths, options),
  });
  /** Changes of one path, one after the other. */
  readonly #turns = new Turns();
  readonly #files = new KnownFiles();

  constructor(options: BaseSandboxOptions = {}) {
    checkDurations({ unit: "seconds" }, { fileTimeout: options.fileTimeout });
    this.#fileTimeout = options.fileTimeout ?? 60;
    this.#ignoreFiles = options.ignoreFiles ?? true;
  }

  /** Runs `command` in a shell. A command that ran out of time has exit code 124; a lost sandbox is thrown. */
  abstract execute(command: string, options?: ExecuteOptions): MaybePromise<ExecuteResponse>;

  /** Stores the bytes as they are, replacing what is there; answers in the order of the input. */
  abstract uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): MaybePromise<FileUploadResponse[]>;

  abstract downloadFiles(
    paths: readonly string[],
    options?: OperationOptions,
  ): MaybePromise<FileDownloadResponse[]>;

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#at(path || this.#home, options, async (ask) =>
      listingOf(await this.#runner.demand(LIST, [ask.path], ask), ask.path),
    );
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    return this.#at(path, options, (ask) => readFile(this.#runner, this.#files, ask, offset, limit));
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#at(path, options, async (ask) => {
      const { bytes, modified } = await readWhole(this.#runner, ask);
      const decoded = decodeBytes(bytes);
      const times = { created_at: modified, modified_at: modified };
      if (decoded === undefined)
        return {
          data: {
            content: encodeBase64(bytes),
            mimeType: mimeTypeOfBytes(ask.path, bytes, false),
            ...times,
          },
        };
      return { data: { content: decoded.text, mimeType: mimeTypeOfText(ask.path), ...times } };
    });
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#change(path, options, async (ask) => {
      const bytes = Buffer.from(content);
      const reply = await this.#put(ask, bytes, options?.overwrite ? "replace" : "create");
      if (reply.kind === "E") throw writeFailureOf(reply.bytes.toString("utf8"), ask.path);
      this.#files.note(ask.path, bytes.length, bytes);
      return { path: ask.path };
    });
  }

  /** The text gets the encoding the file has. */
  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#change(path, options, async (ask) => {
      const reply = await this.#appendThere(ask, content);
      if (reply.kind !== "R")
        await this.#appendEncoded(ask, content, (await wholeOf(reply, this.#runner, ask)).bytes);
      return { path: ask.path };
    });
  }

  /** Of edits at the same time each lands on what the others left; a file that never rests is a `CONFLICT`. */
  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#change(path, options, async (ask) => {
      const change = (bytes: Buffer) => {
        const edited = editBytes(bytes, oldString, newString, replaceAll, ask.path);
        if (edited.error !== undefined) throw new FileFailure(edited.code, edited.error);
        return { bytes: edited.bytes, result: { path: ask.path, occurrences: edited.occurrences } };
      };
      const edit = plainEdit(oldString, newString);
      if (this.#isFetched(ask.path, edit)) return this.#rewrite(ask, change, await this.#fetch(ask));
      const reply = await (edit === undefined
        ? askWhole(this.#runner, ask)
        : this.#editThere(ask, edit, replaceAll));
      if (reply.kind === "R") return { path: ask.path, occurrences: Number(reply.bytes.toString("latin1")) };
      return this.#rewrite(ask, change, (await wholeOf(reply, this.#runner, ask)).bytes);
    });
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#change(path, options, async (ask) => {
      if (ask.path === "/") throw new FileFailure("INVALID_ARGUMENT", "Cannot delete the root directory");
      await this.#runner.demand(DELETE, [ask.path], { ...ask, repeatable: false });
      return { path: ask.path };
    });
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    return this.#at(path || this.#home, options, (ask) =>
      grepFiles(this.#runner, { pattern, glob, maxCount }, this.#search(ask)),
    );
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#at(path || this.#home, options, (ask) =>
      globFiles(this.#runner, pattern, this.#search(ask)),
    );
  }

  async realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    return this.#at(path, options, async (ask): Promise<string | FileError> => {
      const { bytes } = await this.#runner.demand(REAL_PATH, [ask.path], ask);
      const real = canonicalPath(bytes.toString("utf8") || "/");
      return real.error === undefined ? real.path : real;
    });
  }

  /** Removes the private directory for uploads and the last answer; whoever closes the sandbox may call it. It is made again when needed. */
  async removeTemporaryFiles(): Promise<void> {
    await this.#runner.removeTemporaryFiles({ path: "/", timeout: this.#fileTimeout });
  }

  get #home(): string {
    return this.workingDirectory ?? "/";
  }

  #search(ask: AskOptions): SearchOptions {
    return { ...ask, ignoreFiles: this.#ignoreFiles };
  }

  /** Whether a large file is known to be one that takes fewer calls when it is fetched than when a script is tried. */
  #isFetched(path: string, edit: PlainEdit | undefined): boolean {
    const kind = this.#files.of(path);
    if (kind === undefined) return false;
    if (edit === undefined || kind === "wide" || (kind === "coded" && !isAscii(edit))) return true;
    return !this.#runner.has("awk") || !this.#runner.has("sha256sum");
  }

  /** A file that was small enough of late. */
  async #fetch(ask: AskOptions): Promise<Buffer> {
    const bytes = await this.#runner.download(ask.path, ask);
    if (bytes.length > MAX_WHOLE_BYTES) throw tooLarge(ask.path, bytes.length, MAX_WHOLE_BYTES);
    return bytes;
  }

  /** `R` and how often it was replaced where the file lies; else the file, because it has to be done here. */
  async #editThere(ask: AskOptions, edit: PlainEdit, replaceAll: boolean): Promise<Reply> {
    const put = ({ content, ...spelling }: SpelledEdit, sum?: string): Promise<Reply> =>
      this.#put(ask, content, "edit", { edit: { ...spelling, replaceAll }, sum }).catch((error: unknown) => {
        // The file alone is that long, and it is not printed once it is edited.
        if (error instanceof CutShort) return askWhole(this.#runner, ask);
        throw error;
      });
    return untilAtRest(ask, async () => {
      const reply = await put(spelledEdit(edit));
      if (reply.kind !== "S") return reply;
      const { sum, encoding } = sampleOf(reply);
      const encoded = encoding === undefined ? undefined : encodedEdit(edit, encoding);
      return encoded === undefined ? reply : put(encoded, sum);
    });
  }

  /** `R`, or the file, where its encoding has to be found out and the script gave no sample. */
  async #appendThere(ask: AskOptions, content: string): Promise<Reply> {
    const bytes = Buffer.from(content);
    return untilAtRest(ask, async () => {
      const reply = await this.#put(ask, bytes, "append", { isWide: bytes.length !== content.length });
      if (reply.kind !== "S") return reply;
      const { sum, encoding } = sampleOf(reply);
      return this.#put(ask, encodedAddition(ask, content, encoding), "append", { sum });
    });
  }

  async #appendEncoded(ask: AskOptions, content: string, known: Buffer): Promise<void> {
    await this.#rewrite(
      ask,
      (bytes) => {
        const addition = encodedAddition(ask, content, formatOf(bytes)?.encoding);
        return { bytes: Buffer.concat([bytes, addition]), result: undefined };
      },
      known,
    );
  }

  /** Replaces a file by what `change` makes of it, again from the start where someone else was faster. */
  async #rewrite<Result>(
    ask: AskOptions,
    change: (bytes: Buffer) => { readonly bytes: Buffer; readonly result: Result },
    known: Buffer,
  ): Promise<Result> {
    let old = known;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { bytes, result } = change(old);
      const reply = await this.#swap(ask, old, bytes);
      if (reply.kind === "R") {
        this.#files.note(ask.path, bytes.length, bytes);
        return result;
      }
      const refusal = reply.bytes.toString("utf8");
      if (refusal !== "CHANGED") throw failureOf(refusal, ask.path);
      old = (await readWhole(this.#runner, ask)).bytes;
    }
    throw failureOf("CHANGED", ask.path);
  }

  /** Sends the part that is new, and leaves the rest of the file where it is. */
  async #swap(ask: AskOptions, old: Buffer, bytes: Buffer): Promise<Reply> {
    const { before, behind } = commonEnds(old, bytes);
    const middle = bytes.subarray(before, bytes.length - behind);
    return this.#put(ask, middle, "swap", { old, before, behind, result: sumOf(bytes) });
  }

  async #put(ask: AskOptions, content: Buffer, mode: PutMode, details: PutDetails = {}): Promise<Reply> {
    const { old, edit } = details;
    const script = edit === undefined ? PUT : PUT_EDIT;
    const besides = script.length - PUT.length + (edit?.table.length ?? 0);
    return this.#runner.withContent(content, { ...ask, besides }, ({ upload, word }) => {
      const sum = details.sum ?? (old === undefined ? "" : sumOf(old));
      const check = old === undefined || this.#runner.has("sha256sum") ? "" : cksum(old);
      const values = [ask.path, upload, mode, sum, check, lockName(ask.path), word, ...valuesOf(details)];
      return this.#runner.ask(script, values, { ...ask, repeatable: false });
    });
  }

  async #change<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (ask: AskOptions) => Promise<Result>,
  ): Promise<Result | FileError> {
    return this.#at(path, options, (ask) => this.#turns.take(ask.path, () => act(ask)));
  }

  /** Tools pass canonical paths; a program that calls a backend itself is held to the same spelling. */
  async #at<Result>(
    path: string,
    options: OperationOptions | undefined,
    act: (ask: AskOptions) => Promise<Result>,
  ): Promise<Result | FileError> {
    options?.signal?.throwIfAborted();
    const canonical = canonicalPath(path, { base: this.#home });
    if (canonical.error !== undefined) return canonical;
    try {
      return await act({ path: canonical.path, signal: options?.signal, timeout: this.#fileTimeout });
    } catch (error) {
      if (error instanceof FileFailure) return error.result;
      throw error;
    }
  }
}

/** What `act` is answered, again from the start where someone else was faster; a refusal is thrown. */
async function untilAtRest({ path }: AskOptions, act: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const reply = await act();
    if (reply.kind !== "E") return reply;
    const refusal = reply.bytes.toString("utf8");
    if (refusal !== "CHANGED") throw failureOf(refusal, path);
  }
  throw failureOf("CHANGED", path);
}

function encodedAddition({ path }: AskOptions, content: string, encoding: Encoding | undefined): Buffer {
  if (encoding === undefined) throw failureOf("NOT_TEXT", path);
  const addition = encodeText(content, encoding, false);
  if (addition.error !== undefined) throw new FileFailure(addition.code, addition.error);
  return addition.bytes;
}

function sumOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
