/**
 * The view of a sandbox that tools get: files and commands.
 *
 * It opens the sandbox when something is first done in it, and has no way to keep or to end it. Its id is not the one
 * by which the provider knows the place.
 */
import {
  type BackendRuntime,
  DeepwrightError,
  type DeleteResult,
  type EditResult,
  type ExecuteOptions,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileError,
  type FileUploadResponse,
  type GlobResult,
  type GrepResult,
  type LsResult,
  type OperationOptions,
  type ReadRawResult,
  type ReadResult,
  SandboxError,
  type WriteResult,
} from "deepwright";
import type { Sandbox } from "../provider.ts";
import { isLost } from "./find-or-open.ts";
import type { LeaseSlot } from "./lease-slot.ts";
import { type NotedIds, notedIds } from "./noted-id.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { type Conversation, conversationOf, type ReplacedNotes } from "./replaced-note.ts";

export interface ViewOptions {
  readonly slot: LeaseSlot;
  readonly notes: ReplacedNotes;
  readonly secrets: Readonly<Record<string, string>>;
  /** Absent: a program uses it. */
  readonly runtime?: BackendRuntime | undefined;
}

type Optional = "append" | "delete" | "uploadFiles" | "downloadFiles";

export class SandboxView implements Sandbox {
  readonly id: string;
  readonly workingDirectory: string;
  readonly commandNote?: string;
  readonly closesPaths?: true;
  readonly #slot: LeaseSlot;
  readonly #notes: ReplacedNotes;
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #runtime: BackendRuntime | undefined;
  readonly #conversation: Conversation;
  readonly #noted: NotedIds | undefined;

  constructor({ slot, notes, secrets, runtime }: ViewOptions) {
    const { provider, key } = slot;
    this.id = `${provider.name}:${key}`;
    this.workingDirectory = provider.workingDirectory;
    if (provider.commandNote !== undefined) this.commandNote = provider.commandNote;
    if (provider.closesPaths) this.closesPaths = true;
    this.#slot = slot;
    this.#notes = notes;
    this.#secrets = secrets;
    this.#runtime = runtime;
    this.#conversation = conversationOf(runtime?.state);
    this.#noted = notedIds(runtime?.store, provider.name, key);
  }

  async execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    return this.#in(options, async (sandbox, takeNote) => {
      const response = await sandbox.execute(command, options && redacted(options, this.#secrets));
      const output = redactSecrets(response.output, this.#secrets);
      const note = takeNote();
      return { ...response, output: note === undefined ? output : `[${note}]\n${output}` };
    });
  }

  async ls(path: string, options?: OperationOptions): Promise<LsResult> {
    return this.#file(options, (sandbox) => sandbox.ls(path, options));
  }

  async read(path: string, offset?: number, limit?: number, options?: OperationOptions): Promise<ReadResult> {
    const result = await this.#file(options, (sandbox) => sandbox.read(path, offset, limit, options));
    if (typeof result.content !== "string") return result;
    return { ...result, content: redactSecrets(result.content, this.#secrets) };
  }

  async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return this.#file(options, (sandbox) => sandbox.readRaw(path, options));
  }

  async write(
    path: string,
    content: string,
    options?: OperationOptions & { readonly overwrite?: boolean },
  ): Promise<WriteResult> {
    return this.#file(options, (sandbox) => sandbox.write(path, content, options));
  }

  async append(path: string, content: string, options?: OperationOptions): Promise<WriteResult> {
    return this.#file(options, (sandbox) => has(sandbox, "append")(path, content, options));
  }

  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    return this.#file(options, (sandbox) => sandbox.edit(path, oldString, newString, replaceAll, options));
  }

  async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return this.#file(options, (sandbox) => has(sandbox, "delete")(path, options));
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    const result = await this.#file(options, (sandbox) =>
      sandbox.grep(pattern, path, glob, maxCount, options),
    );
    if (result.matches === undefined) return result;
    const strike = (text: string): string => redactSecrets(text, this.#secrets);
    return { ...result, matches: result.matches.map((match) => ({ ...match, text: strike(match.text) })) };
  }

  async glob(pattern: string, path?: string, options?: OperationOptions): Promise<GlobResult> {
    return this.#file(options, (sandbox) => sandbox.glob(pattern, path, options));
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    return this.#in(options, async (sandbox) => has(sandbox, "uploadFiles")(files, options));
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    return this.#in(options, async (sandbox) => has(sandbox, "downloadFiles")(paths, options));
  }

  async realPath(path: string, options?: OperationOptions): Promise<string | FileError> {
    return this.#in(options, async (sandbox) => sandbox.realPath?.(path, options) ?? path);
  }

  /** A model that looks for a file of the old sandbox hears of the new one with the refusal. */
  async #file<Result extends { readonly error?: string | undefined }>(
    options: OperationOptions | undefined,
    act: (sandbox: Sandbox) => Result | Promise<Result>,
  ): Promise<Result> {
    return this.#in(options, async (sandbox, takeNote) => {
      const result = await act(sandbox);
      if (result.error === undefined) return result;
      const note = takeNote();
      const error = redactSecrets(result.error, this.#secrets);
      return { ...result, error: note === undefined ? error : `${error}. ${note}` };
    });
  }

  async #in<Result>(
    options: OperationOptions | undefined,
    act: (sandbox: Sandbox, takeNote: () => string | undefined) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#slot.use({ signal: options?.signal, noted: this.#noted }, async (held) => {
        const sandbox = await this.#bound(held.sandbox);
        return act(sandbox, () => this.#notes.take(held, this.#conversation));
      });
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** A sandbox may have a form for one task, as any backend. */
  async #bound(sandbox: Sandbox): Promise<Sandbox> {
    const { withRuntime } = sandbox as {
      withRuntime?: (runtime: BackendRuntime) => Sandbox | Promise<Sandbox>;
    };
    if (withRuntime === undefined || this.#runtime === undefined) return sandbox;
    return withRuntime.call(sandbox, this.#runtime);
  }

  #explained(error: unknown): unknown {
    if (!SandboxError.isInstance(error)) return error;
    const words = redactSecrets(error.message, this.#secrets);
    if (isLost(error)) return new SandboxError(`${words} ${LOST}`, error.code, error);
    return words === error.message ? error : new SandboxError(words, error.code);
  }
}

const LOST =
  "The sandbox was lost, and its last operation may be incomplete. The next call looks for it, and gets a " +
  "fresh one without the files if it is gone.";

function has<Method extends Optional>(sandbox: Sandbox, method: Method): NonNullable<Sandbox[Method]> {
  const act = sandbox[method];
  if (act !== undefined) return act.bind(sandbox) as NonNullable<Sandbox[Method]>;
  throw new DeepwrightError("NOT_SUPPORTED", `This sandbox has no '${method}'.`);
}

function redacted(options: ExecuteOptions, secrets: Readonly<Record<string, string>>): ExecuteOptions {
  const { onOutput } = options;
  return onOutput ? { ...options, onOutput: (tail) => onOutput(redactSecrets(tail, secrets)) } : options;
}
