/**
 * A session of AgentCore's code interpreter as a machine that runs lines and moves files.
 *
 * The service writes files under names relative to where its commands start; from there a command puts them in their
 * session. Files come back through commands, in pieces.
 */
import { randomBytes } from "node:crypto";
import type {
  BedrockAgentCoreClient,
  CodeInterpreterResult,
  ToolArguments,
  ToolName,
} from "@aws-sdk/client-bedrock-agentcore";
import { atMost } from "../remote/create-or-undo.ts";
import { moveLine } from "../remote/odd-names.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import { lostSandbox } from "../remote/vendor-errors.ts";
import { agentCoreCalls, isMissing } from "./agentcore-calls.ts";

/** The part of the SDK that is needed, loaded by the code that opened the session. */
export type AgentCoreSdk = Pick<
  typeof import("@aws-sdk/client-bedrock-agentcore"),
  | "GetCodeInterpreterSessionCommand"
  | "InvokeCodeInterpreterCommand"
  | "ListCodeInterpreterSessionsCommand"
  | "StartCodeInterpreterSessionCommand"
  | "StopCodeInterpreterSessionCommand"
>;

export interface AgentCoreSession {
  readonly client: BedrockAgentCoreClient;
  readonly codeInterpreter: string;
  readonly sessionId: string;
}

/** Milliseconds for the question whether the session is still there. */
const PROBE_WAIT = 5000;
/** Bytes of a file that come with one command. */
const PIECE_BYTES = 512 * 1024;
const TRANSFER_SECONDS = 600;

export class AgentCoreMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sdk: AgentCoreSdk;
  readonly #session: AgentCoreSession;
  readonly #over = new AbortController();

  constructor(sdk: AgentCoreSdk, session: AgentCoreSession, workingDirectory: string) {
    this.id = session.sessionId;
    this.workingDirectory = workingDirectory;
    this.#sdk = sdk;
    this.#session = session;
  }

  /** From now on every call fails with `SANDBOX_LOST`, running ones too. */
  end(): void {
    this.#over.abort();
  }

  async isThere(signal?: AbortSignal): Promise<boolean> {
    const { client, codeInterpreter, sessionId } = this.#session;
    const input = { codeInterpreterIdentifier: codeInterpreter, sessionId };
    try {
      const { status } = await client.send(new this.#sdk.GetCodeInterpreterSessionCommand(input), {
        abortSignal: signal,
      });
      return status !== "TERMINATED";
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  run(line: string, { signal }: MachineRunOptions): Promise<MachineRunResult> {
    return this.#attempt("run a command", async () => {
      const { structuredContent, content } = await this.#invoke("executeCommand", { command: line }, signal);
      const said = content?.map(({ text }) => text ?? "").join("") ?? "";
      return { output: structuredContent?.stdout ?? said, exitCode: structuredContent?.exitCode ?? null };
    });
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<TransferFailure | undefined> {
    const name = `deepwright-up-${randomBytes(12).toString("hex")}`;
    const stored = await this.#attempt("store a file", () =>
      this.#invoke("writeFiles", { content: [{ path: name, blob: bytes }] }, signal),
    );
    if (stored.isError) return "unclear";
    const { output } = await this.#quick(moveLine(name, path), signal);
    return /\bok\b/.test(output) ? undefined : "unclear";
  }

  async get(path: string, signal?: AbortSignal): Promise<Uint8Array | TransferFailure> {
    const pieces: Buffer[] = [];
    for (let offset = 0; ; offset += PIECE_BYTES) {
      const { output } = await this.#quick(pieceLine(path, offset), signal);
      const found = /(?:^|\n)ok\r?\n([A-Za-z0-9+/=]*)\r?\nend/.exec(output);
      if (found === null) return "unclear";
      const piece = Buffer.from(found[1] as string, "base64");
      pieces.push(piece);
      if (piece.length < PIECE_BYTES) return new Uint8Array(Buffer.concat(pieces));
    }
  }

  #quick(line: string, signal = new AbortController().signal): Promise<MachineRunResult> {
    return this.run(line, { timeoutSeconds: TRANSFER_SECONDS, signal });
  }

  /** The last result of the stream: there is one for each call. */
  async #invoke(
    name: ToolName,
    args: ToolArguments,
    signal: AbortSignal | undefined,
  ): Promise<CodeInterpreterResult> {
    const { client, codeInterpreter, sessionId } = this.#session;
    const input = { codeInterpreterIdentifier: codeInterpreter, sessionId, name, arguments: args };
    const abortSignal =
      signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
    const { stream } = await client.send(new this.#sdk.InvokeCodeInterpreterCommand(input), { abortSignal });
    const reading = resultOf(stream ?? []);
    const result = await untilAborted(reading, abortSignal);
    if (result === undefined) throw new Error("The stream ended without a result");
    return result;
  }

  /** A failure of a call after the end of the session is a `SANDBOX_LOST`. */
  async #attempt<Result>(action: string, act: () => Promise<Result>): Promise<Result> {
    if (this.#over.signal.aborted) throw lostSandbox(this.id);
    try {
      return await act();
    } catch (error) {
      if (this.#over.signal.aborted || (await atMost(PROBE_WAIT, this.isThere())) === false) {
        this.end();
        throw lostSandbox(this.id, agentCoreCalls.error(action, error));
      }
      throw agentCoreCalls.error(action, error);
    }
  }
}

type StreamEvent = { readonly result?: CodeInterpreterResult };

async function resultOf(
  stream: AsyncIterable<StreamEvent> | readonly StreamEvent[],
): Promise<CodeInterpreterResult | undefined> {
  let last: CodeInterpreterResult | undefined;
  for await (const { result } of stream) last = result ?? last;
  return last;
}

/** The SDK's signal ends with the head of the answer. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  work.catch(() => undefined);
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The line that prints a piece of a file in base64 between `ok` and `end`; nothing where it cannot be read. */
function pieceLine(path: string, offset: number): string {
  const script =
    `p=$(printf %s "$1" | base64 -d; echo .); p=\${p%.}; [ -f "$p" ] && [ -r "$p" ] && echo ok && ` +
    `{ tail -c "+$2" <"$p" | head -c "$3" | base64 | tr -d "\\\\n"; printf "\\nend\\n"; }`;
  return `sh -c '${script}' dw ${Buffer.from(path).toString("base64")} ${offset + 1} ${PIECE_BYTES}`;
}
