/**
 * A sandbox behind a vendor's service: everything except the vendor's own calls.
 *
 * A vendor brings a `RemoteMachine`: run a line, put a file, get a file. All promises about commands are kept here,
 * independent of the vendor: see `run-script.ts` for the part inside the sandbox.
 */
import { randomBytes } from "node:crypto";
import {
  BaseSandbox,
  type BaseSandboxOptions,
  canonicalPath,
  type ExecuteOptions,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileUploadResponse,
  type OperationOptions,
  SandboxError,
  type TransferErrorCode,
} from "deepwright";
import { after } from "deepwright/duration";
import { checkedVariables } from "../checked-options.ts";
import { quoted } from "../quoted.ts";
import { boundOutput } from "./remote-output.ts";
import { answerOf, runLine, stopLine } from "./run-script.ts";
import { lostSandbox } from "./vendor-errors.ts";
import { within } from "./wait.ts";

/** Why a file was not moved. `unclear`: the vendor does not say, and the sandbox is asked. */
export type TransferFailure = TransferErrorCode | "unclear";

export interface MachineRunOptions {
  /** More than the command itself may take: for vendors that have a limit of their own, to raise it. */
  readonly timeoutSeconds: number;
  /** Aborts when the answer is no longer needed; closing the request is enough. */
  readonly signal: AbortSignal;
}

export interface MachineRunResult {
  /** Standard output at least, as text. */
  readonly output: string;
  /** As the vendor has it; null: not known. */
  readonly exitCode: number | null;
}

/**
 * The operations that a vendor's SDK has to offer. Each method throws a `SandboxError` (see `vendor-errors.ts`) where the service fails,
 * and may throw anything once its signal is aborted.
 */
export interface RemoteMachine {
  readonly id: string;
  /** Absolute. It is made when it is not there. */
  readonly workingDirectory: string;
  /** Runs a line by a POSIX shell, or splits it into words as one would; anywhere, as the user commands run as. */
  run(line: string, options: MachineRunOptions): Promise<MachineRunResult>;
  /** Stores the bytes under an absolute canonical path; undefined: it is done. Missing directories may be `unclear`. */
  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<TransferFailure | undefined>;
  get(path: string, signal?: AbortSignal): Promise<Uint8Array | TransferFailure>;
  /** Whether the sandbox is over. Asked when a command gave no answer; absent: `run` throws it. */
  isGone?(): Promise<boolean>;
}

export interface RemoteSandboxOptions extends BaseSandboxOptions {
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
}

/** Seconds the answer may take beyond the command's own time before it is given up. */
const ANSWER_SLACK = 3;
/** Seconds that a vendor's own limit gets beyond that, so that ours comes first. */
const VENDOR_SLACK = 30;
/** Milliseconds to wait for a command to be ended after an abort. */
const STOP_WAIT = 2000;
const STOP_SECONDS = 20;
const PROBE_SECONDS = 30;
const PARALLEL_TRANSFERS = 4;
const TIMED_OUT = 124;

/**
 * Commands get a session of their own, empty input, the output of both streams in order, and end with all they
 * started: when the shell ends, when their time is up by the clock in the sandbox or by ours, and after an abort.
 */
export class RemoteSandbox extends BaseSandbox {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #machine: RemoteMachine;
  readonly #env: Readonly<Record<string, string>>;
  readonly #timeout: number;
  readonly #maxOutputBytes: number;

  constructor(machine: RemoteMachine, options: RemoteSandboxOptions = {}) {
    super(options);
    this.id = machine.id;
    this.workingDirectory = machine.workingDirectory;
    this.#machine = machine;
    this.#env = checkedVariables(options.env ?? {});
    this.#timeout = options.timeout ?? 120;
    this.#maxOutputBytes = Math.ceil(options.maxOutputBytes ?? 100_000);
  }

  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResponse> {
    const { signal, timeout = this.#timeout } = options;
    if (typeof command !== "string" || command.trim() === "")
      return { output: "The command is empty.", exitCode: 1, truncated: false };
    checkCommand(command, timeout);
    signal?.throwIfAborted();
    const mark = randomBytes(16).toString("hex");
    const line = runLine(command, {
      mark,
      workingDirectory: this.workingDirectory,
      env: this.#env,
      timeoutSeconds: timeout,
      maxOutputBytes: this.#maxOutputBytes,
    });
    const result = await this.#run(line, mark, timeout, signal);
    if (result === "late") return { output: "", exitCode: TIMED_OUT, truncated: false };
    return this.#response(result, mark);
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options: OperationOptions = {},
  ): Promise<FileUploadResponse[]> {
    return inTurns(files, async ([path, bytes]) => ({
      path,
      error: await this.#put(path, bytes.slice(), options.signal),
    }));
  }

  async downloadFiles(
    paths: readonly string[],
    options: OperationOptions = {},
  ): Promise<FileDownloadResponse[]> {
    return inTurns(paths, async (path) => {
      const got = await this.#get(path, options.signal);
      return typeof got === "string"
        ? { path, content: null, error: got }
        : { path, content: got, error: null };
    });
  }

  /** The vendor's answer; `late` when there was none in time. An abort is thrown; both end the command. */
  async #run(
    line: string,
    mark: string,
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<MachineRunResult | "late"> {
    const call = new AbortController();
    const stopped = stopOf((timeout + ANSWER_SLACK) * 1000, signal);
    const running = this.#machine.run(line, {
      timeoutSeconds: Math.ceil(timeout) + VENDOR_SLACK,
      signal: call.signal,
    });
    running.catch(() => undefined);
    try {
      const first = await Promise.race([running, stopped.promise]);
      if (typeof first !== "string") return first;
    } catch (error) {
      if (!stopped.isOver()) await this.#afterFailure(mark, error);
    } finally {
      stopped.dispose();
    }
    call.abort();
    await within(STOP_WAIT, this.#stop(mark));
    signal?.throwIfAborted();
    return "late";
  }

  /** The connection broke, not the sandbox: the command must not go on unseen. */
  async #afterFailure(mark: string, error: unknown): Promise<never> {
    if (!SandboxError.isInstance(error) || error.code === "SANDBOX_UNAVAILABLE")
      await within(STOP_WAIT, this.#stop(mark));
    throw error;
  }

  async #stop(mark: string): Promise<void> {
    const line = stopLine(mark);
    try {
      await this.#machine.run(line, {
        timeoutSeconds: STOP_SECONDS,
        signal: AbortSignal.timeout(STOP_SECONDS * 1000),
      });
    } catch {
      // The watch in the sandbox ends the command when its time is up.
    }
  }

  async #response({ output, exitCode }: MachineRunResult, mark: string): Promise<ExecuteResponse> {
    const answer = answerOf(output, mark, this.#maxOutputBytes);
    if (answer !== undefined) return answer;
    if (await this.#machine.isGone?.()) throw lostSandbox(this.id);
    if (exitCode === 0 || exitCode === null) throw noAnswer(output);
    return { ...boundOutput(output, this.#maxOutputBytes), exitCode };
  }

  async #put(
    path: string,
    bytes: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<TransferErrorCode | null> {
    signal?.throwIfAborted();
    const at = this.#canonical(path);
    if (at === undefined) return "invalid_path";
    const failure = await abortable(this.#machine.put(at, bytes, signal), signal);
    if (failure === undefined) return null;
    if (failure !== "unclear" && failure !== "parent_not_found") return failure;
    const reason = await this.#probe(PUT_PROBE, at, signal);
    if (reason !== "again") return reason;
    const second = await abortable(this.#machine.put(at, bytes, signal), signal);
    if (second === undefined) return null;
    return second === "unclear" ? "permission_denied" : second;
  }

  async #get(path: string, signal: AbortSignal | undefined): Promise<Uint8Array | TransferErrorCode> {
    signal?.throwIfAborted();
    const at = this.#canonical(path);
    if (at === undefined) return "invalid_path";
    const got = await abortable(this.#machine.get(at, signal), signal);
    if (got !== "unclear") return got;
    const reason = await this.#probe(GET_PROBE, at, signal);
    return reason === "again" ? "permission_denied" : reason;
  }

  /** Asks the sandbox why a file could not be moved. `again`: nothing is in the way. */
  async #probe(
    script: string,
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<TransferErrorCode | "again"> {
    const { output } = await this.execute(`p=${quoted(path)}\n${script}`, { timeout: PROBE_SECONDS, signal });
    const said = output.trim();
    return (PROBE_ANSWERS as readonly string[]).includes(said)
      ? (said as TransferErrorCode | "again")
      : "permission_denied";
  }

  #canonical(path: string): string | undefined {
    const canonical = canonicalPath(path, { base: this.workingDirectory });
    return canonical.error === undefined ? canonical.path : undefined;
  }
}

const PROBE_ANSWERS: readonly (TransferErrorCode | "again")[] = [
  "file_not_found",
  "permission_denied",
  "is_directory",
  "invalid_path",
  "parent_not_found",
  "again",
];

/** Makes missing directories on the way, as an upload promises. */
const PUT_PROBE = `if [ -d "$p" ]; then echo is_directory; exit; fi
d=\${p%/*}
[ -d "\${d:-/}" ] || mkdir -p "$d" 2>/dev/null || {
  while [ -n "$d" ] && [ ! -e "$d" ]; do d=\${d%/*}; done
  if [ -d "\${d:-/}" ]; then echo permission_denied; else echo parent_not_found; fi
  exit
}
if [ -e "$p" ] && [ ! -f "$p" ]; then echo permission_denied
elif [ -e "$p" ] && [ ! -w "$p" ]; then echo permission_denied
elif [ ! -w "\${d:-/}" ] && [ ! -e "$p" ]; then echo permission_denied
else echo again; fi`;

const GET_PROBE = `if [ -d "$p" ]; then echo is_directory
elif [ -f "$p" ] && [ -r "$p" ]; then echo again
elif [ -e "$p" ]; then echo permission_denied
else echo file_not_found; fi`;

function checkCommand(command: string, timeout: number): void {
  if (command.includes("\0")) throw invalid("The command contains a NUL character.");
  if (!command.isWellFormed()) throw invalid("The command is not valid Unicode.");
  if (!(timeout > 0)) throw invalid(`timeout must be more than 0 seconds, not ${timeout}.`);
}

function invalid(message: string): SandboxError {
  return new SandboxError(message, "INVALID_COMMAND");
}

function noAnswer(output: string): SandboxError {
  const said = boundOutput(output.trim(), 200).output;
  return new SandboxError(
    `The sandbox gave no usable answer${said === "" ? "" : `; it said: ${said}`}. It needs a POSIX shell and the core utilities.`,
    "COMMAND_FAILED",
  );
}

interface Stopped {
  readonly promise: Promise<"late" | "abort">;
  isOver(): boolean;
  dispose(): void;
}

function stopOf(milliseconds: number, signal: AbortSignal | undefined): Stopped {
  let over = false;
  let dispose = (): void => undefined;
  const promise = new Promise<"late" | "abort">((resolve) => {
    const end = (how: "late" | "abort") => (): void => {
      over = true;
      resolve(how);
    };
    const stopTimer = after(milliseconds, end("late"));
    const aborted = end("abort");
    signal?.addEventListener("abort", aborted, { once: true });
    dispose = () => {
      stopTimer();
      signal?.removeEventListener("abort", aborted);
    };
  });
  return { promise, isOver: () => over, dispose };
}

/** Rejects with the signal's reason at once, even if the vendor's call takes no signal. */
async function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  let aborted = (): void => undefined;
  const abort = new Promise<never>((_, reject) => {
    aborted = () => reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
  });
  try {
    return await Promise.race([work, abort]);
  } catch (error) {
    work.catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", aborted);
  }
}

/** Answers in the order of the input; a few at a time. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await act(items[index] as Item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_TRANSFERS, items.length) }, worker));
  return results;
}
