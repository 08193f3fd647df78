/** An E2B sandbox as a machine that runs lines and moves files. */
import type { CommandExitError, CommandHandle, Sandbox } from "e2b";
import { atMost } from "../remote/create-or-undo.ts";
import { LossCheck } from "../remote/loss-check.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import type { VendorCalls } from "../remote/vendor-calls.ts";
import { isNetworkFailure } from "../remote/vendor-errors.ts";

export interface E2bMachineOptions {
  readonly workingDirectory: string;
  readonly user?: string;
  /** Called before a command with the milliseconds it may take; absent: the sandbox's time is its owner's matter. */
  prolong?(milliseconds: number): Promise<void>;
}

/** Milliseconds for the question whether the sandbox is still there. */
const PROBE_WAIT = 5000;
const START_WAIT = 60_000;
const MAX_RECONNECTIONS = 3;
/** A transfer may take so many milliseconds, and longer the more there is to move. */
const TRANSFER_WAIT = 60_000;
const SLOWEST_BYTES_PER_MILLISECOND = 100;
const LONGEST_READ = 600_000;

/** Where the SDK does not say why, the sandbox is asked. */
const UNCLEAR = new Set(["InvalidArgumentError", "NotFoundError", "FileNotFoundError"]);

export class E2bMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sandbox: Sandbox;
  readonly #calls: LossCheck;
  readonly #options: E2bMachineOptions;

  constructor(sandbox: Sandbox, calls: VendorCalls, options: E2bMachineOptions) {
    this.id = sandbox.sandboxId;
    this.workingDirectory = options.workingDirectory;
    this.#sandbox = sandbox;
    this.#calls = new LossCheck({
      id: this.id,
      isGone: () => isGone(sandbox),
      error: (action, error) => calls.error(action, error),
    });
    this.#options = options;
  }

  /** From now on everything is a `SANDBOX_LOST`. */
  end(): void {
    this.#calls.end();
  }

  async run(line: string, { timeoutSeconds, signal }: MachineRunOptions): Promise<MachineRunResult> {
    return this.#calls.attempt("run a command", async () => {
      await this.#options.prolong?.(timeoutSeconds * 1000);
      const process = await this.#sandbox.commands.run(line, {
        background: true,
        cwd: "/",
        user: this.#options.user,
        timeoutMs: timeoutSeconds * 1000,
        requestTimeoutMs: Math.min(START_WAIT, timeoutSeconds * 1000),
        signal,
      });
      return this.#result(process, { timeoutSeconds, signal });
    });
  }

  /** A connection that broke before there was output is made again: the process goes on without it. */
  async #result(
    process: CommandHandle,
    { timeoutSeconds, signal }: MachineRunOptions,
  ): Promise<MachineRunResult> {
    let handle = process;
    for (let broken = 0; ; broken++) {
      try {
        const { stdout, exitCode } = await handle.wait();
        return { output: stdout, exitCode };
      } catch (error) {
        if ((error as Error).name === "CommandExitError") {
          const { stdout, exitCode } = error as CommandExitError;
          return { output: stdout, exitCode };
        }
        const canGoOn = broken < MAX_RECONNECTIONS && handle.stdout === "" && !signal.aborted;
        if (!canGoOn || (error as Error).name === "TimeoutError") throw error;
        const connecting = this.#sandbox.commands.connect(process.pid, {
          timeoutMs: timeoutSeconds * 1000,
          requestTimeoutMs: PROBE_WAIT,
          signal,
        });
        handle = await connecting.catch(() => {
          throw error;
        });
      }
    }
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<TransferFailure | undefined> {
    return this.#transfer("store a file", async () => {
      const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
      await this.#sandbox.files.write(path, buffer, {
        user: this.#options.user,
        useOctetStream: true,
        requestTimeoutMs: Math.ceil(TRANSFER_WAIT + bytes.length / SLOWEST_BYTES_PER_MILLISECOND),
        signal,
      });
      return undefined;
    });
  }

  get(path: string, signal?: AbortSignal): Promise<Uint8Array | TransferFailure> {
    return this.#transfer("read a file", () =>
      this.#sandbox.files.read(path, {
        format: "bytes",
        user: this.#options.user,
        requestTimeoutMs: LONGEST_READ,
        signal,
      }),
    );
  }

  #transfer<Value>(action: string, move: () => Promise<Value>): Promise<Value | TransferFailure> {
    return this.#calls.attempt(action, async () => {
      try {
        return await twice(move);
      } catch (error) {
        if (error instanceof Error && (UNCLEAR.has(error.name) || /^500: /.test(error.message)))
          return "unclear";
        throw error;
      }
    });
  }
}

async function isGone(sandbox: Sandbox): Promise<boolean> {
  const isRunning = await atMost(PROBE_WAIT, sandbox.isRunning({ requestTimeoutMs: PROBE_WAIT }));
  return isRunning === false;
}

/** A transfer does the same when it is made again, so a connection that broke is no reason to give up. */
async function twice<Value>(move: () => Promise<Value>): Promise<Value> {
  try {
    return await move();
  } catch (error) {
    if (!isNetworkFailure(error)) throw error;
    return await move();
  }
}
