/** Files in and out of a sandbox through its own `uploadFiles` and `downloadFiles`. */

import type { OperationOptions, SandboxBackendProtocol } from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { SandboxError } from "../sandbox-error.ts";
import { failureOf } from "./refusal.ts";

/** One operation on one path. */
export interface Ask {
  /** Canonical. A relative path without a working directory stands here as if it lay in `/`. */
  readonly path: string;
  /** The path for transfers, results and messages. */
  readonly name: string;
  /** The path for commands. */
  readonly operand: string;
  readonly signal?: AbortSignal | undefined;
  /** Seconds for one command. */
  readonly timeout: number;
}

export class Transfers {
  readonly #calls: Required<Pick<SandboxBackendProtocol, "uploadFiles" | "downloadFiles">>;

  constructor(calls: Required<Pick<SandboxBackendProtocol, "uploadFiles" | "downloadFiles">>) {
    this.#calls = calls;
  }

  /** The bytes, or the reason as the sandbox gives it. */
  async get(name: string, options: OperationOptions): Promise<Buffer | string> {
    return (await this.getAll([name], options))[0] as Buffer | string;
  }

  async getAll(names: readonly string[], options: OperationOptions): Promise<(Buffer | string)[]> {
    const responses = await this.#calls.downloadFiles(names, signalOf(options));
    options.signal?.throwIfAborted();
    return names.map((_, index) => {
      const { content, error } = responses[index] ?? {};
      if (!content) return error ?? "no reason given";
      return Buffer.isBuffer(content)
        ? content
        : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    });
  }

  /** Throws a `FileFailure` when the sandbox does not take the file. */
  async put(name: string, bytes: Uint8Array, options: OperationOptions): Promise<void> {
    const [response] = await this.#upload(name, bytes, options);
    options.signal?.throwIfAborted();
    const reason = response === undefined ? "no reason given" : response.error;
    if (reason) throw failureOf(reason, name, "write");
  }

  async #upload(name: string, bytes: Uint8Array, options: OperationOptions) {
    try {
      return await this.#calls.uploadFiles([[name, bytes]], signalOf(options));
    } catch (error) {
      if (!SandboxError.isInstance(error) || error.code !== "FILE_OPERATION_FAILED") throw error;
      throw new FileFailure("UNAVAILABLE", error.message);
    }
  }
}

export function signalOf({ signal }: { readonly signal?: AbortSignal | undefined }): OperationOptions {
  return signal === undefined ? {} : { signal };
}
