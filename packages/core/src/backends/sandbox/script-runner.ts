/** Runs our scripts in a sandbox and reads their answers. */
import { randomBytes } from "node:crypto";
import { showPath } from "../../paths.ts";
import type { ExecuteResponse, SandboxBackendProtocol } from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import { answerIn, commandOf, type Value } from "./command.ts";
import { failureOf } from "./refusal.ts";
import { PIECE, REMOVE } from "./scripts.ts";
import { type Ask, signalOf, type Transfers } from "./transfers.ts";

/** The body of an answer: its first letter, and the rest. */
export interface Reply {
  readonly kind: string;
  readonly bytes: Buffer;
}

/** A script that was not done in time. */
export class OutOfTime extends FileFailure {}

/** Bytes of an answer that are printed: in base64 less than providers cut. */
const INLINE_BYTES = 48 * 1024;

export class ScriptRunner {
  readonly #execute: SandboxBackendProtocol["execute"];
  readonly #transfers: Transfers;
  #inlineBytes = INLINE_BYTES;

  constructor(execute: SandboxBackendProtocol["execute"], transfers: Transfers) {
    this.#execute = execute;
    this.#transfers = transfers;
  }

  /** Throws a `FileFailure` when the script refuses, or when there is no answer. */
  async ask(script: string, values: readonly Value[], ask: Ask): Promise<Reply> {
    const reply = replyIn(await this.#body(script, values, ask));
    if (reply.kind === "E") throw failureOf(reply.bytes.toString("utf8"), ask.name);
    return reply;
  }

  /** Runs the script a second time when a provider cut its answer: then the answer goes to a file. */
  async #body(script: string, values: readonly Value[], ask: Ask): Promise<Buffer> {
    const first = await this.#run(script, values, this.#inlineBytes, ask);
    if (first !== undefined) return first;
    this.#inlineBytes = Math.floor(this.#inlineBytes / 4);
    const second = await this.#run(script, values, 0, ask);
    if (second === undefined) throw noAnswer("its answer was cut short");
    return second;
  }

  /** Undefined when the answer was cut short. */
  async #run(
    script: string,
    values: readonly Value[],
    inlineBytes: number,
    ask: Ask,
  ): Promise<Buffer | undefined> {
    const call = randomBytes(16).toString("hex");
    const { timeout, signal } = ask;
    signal?.throwIfAborted();
    let response: ExecuteResponse;
    try {
      const command = commandOf(script, call, [inlineBytes, ...values]);
      response = await this.#execute(command, { timeout, ...signalOf(ask) });
      signal?.throwIfAborted();
    } catch (error) {
      if (signal?.aborted) void this.#remove(call, ask);
      throw error;
    }
    const answer = answerIn(response.output, call);
    if (answer.kind === "data") return answer.bytes;
    if (answer.kind === "file") return this.#fetch(answer.directory, call, ask);
    if (response.exitCode === 124) {
      await this.#remove(call, ask);
      throw new OutOfTime("UNAVAILABLE", `Not done after ${timeout} seconds`);
    }
    if (answer.begun || response.truncated) return undefined;
    const said = showPath(response.output.trim().slice(0, 200));
    throw noAnswer(`exit code ${response.exitCode ?? "unknown"}${said === "" ? "" : `, output: ${said}`}`);
  }

  /** Downloads an answer. Where transfers have paths of their own, commands print it in pieces. */
  async #fetch(directory: string, call: string, ask: Ask): Promise<Buffer> {
    try {
      const isOurs = directory.startsWith("/") && directory.endsWith(`/.deepwright-${call}`);
      const got = isOurs ? await this.#transfers.get(`${directory}/answer`, ask).catch(() => "") : "";
      ask.signal?.throwIfAborted();
      return typeof got === "string" ? await this.#pieces(call, ask) : got;
    } finally {
      const removed = this.#remove(call, ask);
      if (!ask.signal?.aborted) await removed;
    }
  }

  async #pieces(call: string, ask: Ask): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let from = 0, size = INLINE_BYTES; ; ) {
      const body = await this.#run(PIECE, [call, from, size], size, ask);
      if (body === undefined) {
        size = Math.floor(size / 4);
        if (size < 100) throw noAnswer("its answer was cut short");
        continue;
      }
      const piece = replyIn(body).bytes;
      pieces.push(piece);
      from += piece.length;
      if (piece.length < size) return Buffer.concat(pieces);
    }
  }

  async #remove(call: string, { timeout }: Ask): Promise<void> {
    try {
      await this.#execute(commandOf(REMOVE, randomBytes(16).toString("hex"), [0, call]), { timeout });
    } catch {
      // The sandbox is gone, and the file with it.
    }
  }
}

export function noAnswer(reason: string): FileFailure {
  return new FileFailure("UNAVAILABLE", `The sandbox gave no usable answer (${reason})`);
}

function replyIn(body: Buffer): Reply {
  if (body.length < 2 || body.at(-1) !== 0x2e) throw noAnswer("its answer is not complete");
  return { kind: String.fromCharCode(body[0] as number), bytes: body.subarray(1, -1) };
}
