/** Runs our scripts in a sandbox and gets files in and out, with what may go wrong on the way told apart. */
import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { showPath } from "../../paths.ts";
import type {
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileErrorCode,
  FileUploadResponse,
  OperationOptions,
} from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { type Answer, answerIn, commandOf, encodeValue, Spelled, type Value } from "./command.ts";
import { INLINE_BYTES } from "./limits.ts";
import { failureOf } from "./refusal.ts";
import { DISCARD, NOTHING, SWEEP } from "./scripts.ts";

/** What a sandbox has to do itself. */
export interface SandboxCalls {
  execute(command: string, options?: ExecuteOptions): ExecuteResponse | Promise<ExecuteResponse>;
  uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): FileUploadResponse[] | Promise<FileUploadResponse[]>;
  downloadFiles(
    paths: readonly string[],
    options?: OperationOptions,
  ): FileDownloadResponse[] | Promise<FileDownloadResponse[]>;
}

/** The body of an answer: its first letter, and the rest. */
export interface Reply {
  readonly kind: string;
  readonly bytes: Buffer;
}

export interface AskOptions {
  /** For the words of a failure. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Seconds. */
  readonly timeout: number;
  /** Whether the script may run again when its answer was cut short; default true. */
  readonly repeatable?: boolean;
}

/** A script that was not done in time. */
export class OutOfTime extends FileFailure {}

/** An answer that a provider cut, of a script that must not run a second time. */
export class CutShort extends FileFailure {}

/**
 * Characters of content that travel in a command. With the script it stays under the 64 KB that every sandbox
 * takes, and far under the 128 KiB Linux has for one argument.
 */
const CONTENT_CHARACTERS = 48 * 1024;
/** Bytes of content that are packed to see whether they fit then. */
const MAX_PACKED = 384 * 1024;
/** Answers that wait to be removed by the next command, at most: each is a word of it. */
const MAX_READ = 100;

/** Content on its way: in the sandbox already, or as a word of the command. */
export interface Sent {
  /** Empty where there is none. */
  readonly upload: string;
  readonly word: Spelled;
}

export class ScriptRunner {
  readonly #calls: SandboxCalls;
  #inlineBytes = INLINE_BYTES;
  #hasBase64 = false;
  #tools: readonly string[] | undefined;
  /** The private directory for uploads. */
  #stage: string | undefined;
  #making: Promise<unknown> | undefined;
  /** What the next command removes: answers in files that were read, by the names of their calls. */
  #read: string[] = [];

  constructor(calls: SandboxCalls) {
    this.#calls = calls;
  }

  /** Whether a tool is there, as far as is known. */
  has(tool: "awk" | "sha256sum"): boolean {
    return this.#tools?.includes(tool) ?? true;
  }

  /** The body of the answer; throws a `FileFailure` when there is none. A refusal is a body too: `E`. */
  async ask(script: string, values: readonly (Value | Spelled)[], options: AskOptions): Promise<Reply> {
    const first = await this.#run(script, values, this.#inlineBytes, options);
    if (first !== undefined) return replyIn(first);
    this.#inlineBytes = Math.floor(this.#inlineBytes / 4);
    if (options.repeatable === false) {
      const { code, error } = noAnswer("its answer was cut short").result;
      throw new CutShort(code, error);
    }
    const second = await this.#run(script, values, 0, options);
    if (second === undefined) throw noAnswer("its answer was cut short");
    return replyIn(second);
  }

  /** As `ask`, but a refusal is thrown in the words of a backend. */
  async demand(script: string, values: readonly Value[], options: AskOptions): Promise<Reply> {
    const reply = await this.ask(script, values, options);
    if (reply.kind === "E") throw failureOf(reply.bytes.toString("utf8"), options.path);
    return reply;
  }

  /** Throws a `FileFailure` about `path` when the file cannot be had. */
  async download(path: string, options: OperationOptions): Promise<Buffer> {
    const [response] = await this.#calls.downloadFiles([path], signalOf(options));
    options.signal?.throwIfAborted();
    if (response?.content) return asBuffer(response.content);
    throw failureOf(TRANSFER_CODES[response?.error ?? ""] ?? "UNAVAILABLE", path);
  }

  /** Bytes by path; what cannot be had is left out with its code. */
  async downloadAll(
    paths: readonly string[],
    options: OperationOptions,
  ): Promise<(Buffer | FileErrorCode)[]> {
    const responses = await this.#calls.downloadFiles(paths, options);
    options.signal?.throwIfAborted();
    return paths.map((_, index) => {
      const response = responses[index];
      return response?.content
        ? asBuffer(response.content)
        : (TRANSFER_CODES[response?.error ?? ""] ?? "UNAVAILABLE");
    });
  }

  /** Gets bytes on their way, hands them to `use`, and sees that an upload is gone after it. `besides`: characters of other values. */
  async withContent(
    bytes: Uint8Array,
    options: AskOptions & { readonly besides?: number },
    use: (sent: Sent) => Promise<Reply>,
  ): Promise<Reply> {
    const word = this.#wordOf(bytes, CONTENT_CHARACTERS - (options.besides ?? 0));
    if (word !== undefined) return use({ upload: "", word });
    const first = await this.#upload(bytes, options);
    const reply = await this.#withUpload(first, options, use);
    if (reply.kind !== "E" || reply.bytes.toString("latin1") !== "UPLOAD") return reply;
    // Uploads are another user's than commands: only in a directory of ours can they be removed.
    await this.#calls.uploadFiles([[first, new Uint8Array()]], signalOf(options));
    return this.#withUpload(await this.#uploadStaged(bytes, options), options, use);
  }

  /** Removes what is kept in the sandbox between operations. It is made again when needed. */
  async removeTemporaryFiles(options: AskOptions): Promise<void> {
    const stage = this.#stage;
    this.#stage = undefined;
    if (stage !== undefined) await this.#discard(stage, options);
    else if (this.#read.length > 0) await this.#best(NOTHING, [], options);
  }

  /** Undefined where the bytes are too many for a command. */
  #wordOf(bytes: Uint8Array, most: number): Spelled | undefined {
    const octal = bytes.length > most ? undefined : encodeValue(bytes);
    if (octal !== undefined && (octal.length < most / 4 || (!this.#hasBase64 && octal.length < most)))
      return new Spelled(`o${octal}`);
    if (!this.#hasBase64) return undefined;
    if (bytes.length < (most / 4) * 3 - 2) return new Spelled(`b${asBuffer(bytes).toString("base64")}`);
    if (bytes.length > MAX_PACKED || this.#tools?.includes("gzip") !== true) return undefined;
    const packed = gzipSync(bytes).toString("base64");
    return packed.length < most ? new Spelled(`z${packed}`) : undefined;
  }

  /** Before the private directory is known, to a name nobody can guess: that saves the call which makes the directory. */
  async #upload(bytes: Uint8Array, options: AskOptions): Promise<string> {
    if (this.#stage !== undefined) return this.#uploadStaged(bytes, options);
    const upload = `/tmp/.deepwright-upload-${randomBytes(16).toString("hex")}`;
    const refusal = await this.#send(upload, bytes, options);
    return refusal === null ? upload : this.#uploadStaged(bytes, options);
  }

  /** Why it was not taken; null when it was. */
  async #send(upload: string, bytes: Uint8Array, options: AskOptions): Promise<string | null> {
    try {
      const [response] = await this.#calls.uploadFiles([[upload, bytes]], signalOf(options));
      options.signal?.throwIfAborted();
      return response === undefined ? "no reason given" : response.error;
    } catch (error) {
      await this.#discard(upload, options);
      throw error;
    }
  }

  async #uploadStaged(bytes: Uint8Array, options: AskOptions): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const stage = this.#stage ?? (await this.#makeStage(options));
      const upload = `${stage}/${randomBytes(16).toString("hex")}`;
      const refusal = await this.#send(upload, bytes, options);
      if (refusal === null) return upload;
      if (this.#stage === stage) this.#stage = undefined;
      if (attempt > 0) throw noAnswer(`it did not take an upload: ${refusal}`);
    }
  }

  async #withUpload(
    upload: string,
    options: AskOptions,
    use: (sent: Sent) => Promise<Reply>,
  ): Promise<Reply> {
    try {
      return await use({ upload, word: new Spelled("") });
    } catch (error) {
      await this.#discard(upload, options);
      throw error;
    }
  }

  async #makeStage(options: AskOptions): Promise<string> {
    this.#making ??= this.demand(NOTHING, [], options).finally(() => {
      this.#making = undefined;
    });
    await this.#making;
    if (this.#stage === undefined) throw noAnswer("it has no directory for temporary files");
    return this.#stage;
  }

  /** Undefined when the answer was cut short. */
  async #run(
    script: string,
    values: readonly (Value | Spelled)[],
    inlineBytes: number,
    options: AskOptions,
  ): Promise<Buffer | undefined> {
    const call = randomBytes(16).toString("hex");
    const { timeout } = options;
    options.signal?.throwIfAborted();
    const read = this.#read.splice(0, MAX_READ);
    const makes = this.#stage === undefined ? "yes" : "";
    const command = commandOf(script, call, [inlineBytes, makes, read.join(" "), ...values]);
    const response = await this.#execute(command, call, options);
    const answer = answerIn(response.output, call);
    if (answer.kind === "none") this.#read.push(...read);
    else this.#learn(answer, call);
    if (answer.kind === "data") return answer.bytes;
    if (answer.kind === "file") return this.#fetch(answer, call, options);
    if (response.exitCode === 124) {
      await this.#best(SWEEP, [call, options.path], options);
      throw new OutOfTime("UNAVAILABLE", `Not done after ${timeout} seconds`);
    }
    if (answer.begun || response.truncated) return undefined;
    const said = showPath(response.output.trim().slice(0, 200));
    throw noAnswer(`exit code ${response.exitCode ?? "unknown"}${said === "" ? "" : `, output: ${said}`}`);
  }

  async #fetch(
    answer: Extract<Answer, { kind: "file" }>,
    call: string,
    options: AskOptions,
  ): Promise<Buffer> {
    const { directory } = answer;
    if (!directory.startsWith("/") || !directory.endsWith(`/.deepwright-${call}`))
      throw noAnswer("it named a place that is not ours");
    this.#read.push(call);
    return this.download(`${directory}/answer`, options);
  }

  #learn({ hasBase64, tools, stage }: Answer, call: string): void {
    this.#hasBase64 ||= hasBase64 === true;
    this.#tools ??= tools;
    if (stage === undefined) return;
    if (this.#stage !== undefined) this.#read.push(`files-${call}`);
    else if (stage.startsWith("/")) this.#stage = stage;
  }

  async #execute(command: string, call: string, options: AskOptions): Promise<ExecuteResponse> {
    const { signal, timeout } = options;
    try {
      const response = await this.#calls.execute(command, { timeout, ...signalOf(options) });
      signal?.throwIfAborted();
      return response;
    } catch (error) {
      if (signal?.aborted) await this.#best(SWEEP, [call, options.path], options);
      throw error;
    }
  }

  async #discard(path: string, options: AskOptions): Promise<void> {
    await this.#best(DISCARD, [path], options);
  }

  /** Best effort to clean up. After an abort nobody waits for it. */
  async #best(script: string, values: readonly Value[], { timeout, signal }: AskOptions): Promise<void> {
    const read = this.#read.splice(0, MAX_READ).join(" ");
    const command = commandOf(script, randomBytes(16).toString("hex"), [0, "", read, ...values]);
    const done = Promise.resolve()
      .then(() => this.#calls.execute(command, { timeout }))
      .then(
        () => undefined,
        () => undefined,
      );
    if (!signal?.aborted) await done;
  }
}

/** A name for the lock of a path: the same for everyone who uses the sandbox. */
export function lockName(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 32);
}

export function noAnswer(reason: string): FileFailure {
  return new FileFailure("UNAVAILABLE", `The sandbox gave no usable answer (${reason})`);
}

function replyIn(body: Buffer): Reply {
  if (body.length < 2 || body.at(-1) !== 0x2e) throw noAnswer("its answer is not complete");
  return { kind: String.fromCharCode(body[0] as number), bytes: body.subarray(1, -1) };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function signalOf({ signal }: { readonly signal?: AbortSignal | undefined }): OperationOptions {
  return signal === undefined ? {} : { signal };
}

const TRANSFER_CODES: Readonly<Record<string, FileErrorCode>> = {
  file_not_found: "FILE_NOT_FOUND",
  parent_not_found: "FILE_NOT_FOUND",
  is_directory: "IS_DIRECTORY",
  invalid_path: "INVALID_PATH",
  permission_denied: "PERMISSION_DENIED",
};
