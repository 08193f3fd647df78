/** A Runloop devbox as a machine that runs lines and moves files. */
import type { Devbox } from "@runloop/api-client";
import { CarefulCalls, type MachineState } from "../remote/careful-calls.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import type { VendorCalls } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";

/** Milliseconds. */
const TRANSFER_WAIT = 600_000;
/** Runloop answers with the last lines only; ours are six. */
const LINES = "1000";

/** It is over. */
const GONE = new Set(["shutdown", "failure"]);
/** Its files are there, and it can be resumed, or waited for. */
const ASLEEP = new Set([
  "suspended",
  "suspending",
  "resuming",
  "scheduled",
  "queued",
  "provisioning",
  "initializing",
]);

export class RunloopMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #devbox: Devbox;
  readonly #calls: CarefulCalls;

  constructor(devbox: Devbox, calls: VendorCalls, workingDirectory: string, startSeconds: number) {
    this.id = devbox.id;
    this.#devbox = devbox;
    this.workingDirectory = workingDirectory;
    this.#calls = new CarefulCalls({
      id: devbox.id,
      state: () => stateOf(devbox),
      start: () => calls.call("resume the devbox", () => resume(devbox, startSeconds)),
      error: (action, error) => calls.error(action, error),
    });
  }

  /** From now on everything is a `SANDBOX_LOST`. */
  end(): void {
    this.#calls.end();
  }

  isGone(): Promise<boolean> {
    return this.#calls.isGone();
  }

  /** Resumes it when it is suspended. False: it is gone. */
  awake(): Promise<boolean> {
    return this.#calls.awake();
  }

  async run(line: string, { timeoutSeconds, signal }: MachineRunOptions): Promise<MachineRunResult> {
    return this.#calls.attempt("run a command", async () => {
      const result = await this.#devbox.cmd.exec(
        line,
        { last_n: LINES },
        { longPoll: { timeoutMs: timeoutSeconds * 1000 }, signal },
      );
      // Whole, also where the answer was cut: then it is fetched once more.
      return { output: await result.stdout(), exitCode: result.exitCode };
    });
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<TransferFailure | undefined> {
    return this.#calls.transfer("store a file", async () => {
      const file = new File([bytes as Uint8Array<ArrayBuffer>], "file");
      await this.#devbox.file.upload({ path, file }, { timeout: TRANSFER_WAIT, signal });
      return undefined;
    });
  }

  async get(path: string, signal?: AbortSignal): Promise<Uint8Array | TransferFailure> {
    return this.#calls.transfer("read a file", async () => {
      const response = await this.#devbox.file.download({ path }, { timeout: TRANSFER_WAIT, signal });
      return new Uint8Array(await response.arrayBuffer());
    });
  }
}

async function stateOf(devbox: Devbox): Promise<MachineState> {
  try {
    const { status } = await devbox.getInfo();
    return GONE.has(status) ? "gone" : ASLEEP.has(status) ? "asleep" : "awake";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    throw error;
  }
}

async function resume(devbox: Devbox, seconds: number): Promise<void> {
  const longPoll = { timeoutMs: seconds * 1000 };
  const { status } = await devbox.getInfo();
  if (status === "suspending") await devbox.awaitSuspended({ longPoll });
  if (status === "suspending" || status === "suspended") await devbox.resume({ longPoll });
  else await devbox.awaitRunning({ longPoll });
}
