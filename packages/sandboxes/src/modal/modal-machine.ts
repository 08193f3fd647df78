/** A Modal sandbox as a machine that runs lines and moves files. */
import { SandboxError } from "deepwright";
import type { ContainerProcess, Sandbox } from "modal";
import { atMost } from "../remote/create-or-undo.ts";
import { LossCheck } from "../remote/loss-check.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import type { VendorCalls } from "../remote/vendor-calls.ts";
import { within } from "../remote/wait.ts";
import { isGone } from "./modal-errors.ts";

/** Modal takes 64 KiB of arguments in all; longer ones are passed as input. */
const MAX_ARGUMENTS = 60_000;
/** Milliseconds for the question whether the sandbox is still there. */
const PROBE_WAIT = 5000;
/** A transfer may take so many milliseconds, and longer the more there is to move. */
const TRANSFER_WAIT = 60_000;
const SLOWEST_BYTES_PER_MILLISECOND = 100;

const TRANSFER_FAILURES: Readonly<Record<string, TransferFailure>> = {
  SandboxFilesystemNotFoundError: "file_not_found",
  SandboxFilesystemIsADirectoryError: "is_directory",
  SandboxFilesystemNotADirectoryError: "parent_not_found",
  SandboxFilesystemPermissionError: "permission_denied",
  SandboxFilesystemError: "unclear",
};

export class ModalMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sandbox: Sandbox;
  readonly #calls: LossCheck;

  constructor(sandbox: Sandbox, calls: VendorCalls, workingDirectory: string) {
    this.id = sandbox.sandboxId;
    this.#sandbox = sandbox;
    this.#calls = new LossCheck({
      id: this.id,
      isGone: () => hasEnded(sandbox),
      error: (action, error) => calls.error(action, error),
    });
    this.workingDirectory = workingDirectory;
  }

  /** From now on everything is a `SANDBOX_LOST`. */
  end(): void {
    this.#calls.end();
  }

  async run(line: string, { timeoutSeconds, signal }: MachineRunOptions): Promise<MachineRunResult> {
    const isLong = line.length > MAX_ARGUMENTS;
    return this.#calls.attempt("run a command", async () => {
      const process = await this.#sandbox.exec(isLong ? ["sh"] : ["sh", "-c", line], {
        mode: "text",
        stderr: "ignore",
        timeoutMs: timeoutSeconds * 1000,
      });
      if (signal.aborted) return NOTHING;
      if (isLong) await writeInput(process, `${line}\n`);
      const output = await readOutput(process, signal);
      // The exit code of the command is part of the output: the shell's own is of interest when there is none.
      return output === "" && !signal.aborted
        ? { output, exitCode: await process.wait() }
        : { output, exitCode: null };
    });
  }

  async put(path: string, bytes: Uint8Array): Promise<TransferFailure | undefined> {
    const done = await this.#transfer("store a file", bytes.length, () =>
      this.#sandbox.filesystem.writeBytes(bytes, path).then(() => "done" as const),
    );
    return done === "done" ? undefined : done;
  }

  get(path: string): Promise<Uint8Array | TransferFailure> {
    return this.#transfer("read a file", 0, () => this.#sandbox.filesystem.readBytes(path));
  }

  /** The SDK's transfers know neither time nor signal. */
  async #transfer<Value>(
    action: string,
    size: number,
    move: () => Promise<Value>,
  ): Promise<Value | TransferFailure> {
    return this.#calls.attempt(action, async () => {
      const moved = move().catch((error: unknown) => {
        const failure = TRANSFER_FAILURES[(error as Error)?.name];
        if (failure === undefined) throw error;
        return failure;
      });
      const limit = TRANSFER_WAIT + size / SLOWEST_BYTES_PER_MILLISECOND;
      const result = await within(limit, moved);
      if (result !== undefined) return result;
      throw new SandboxError(
        `Modal did not ${action} within ${Math.round(limit / 1000)} seconds. Check the network and try again.`,
        "SANDBOX_UNAVAILABLE",
      );
    });
  }
}

async function hasEnded(sandbox: Sandbox): Promise<boolean> {
  const asked = sandbox.poll().then((exitCode) => exitCode !== null, isGone);
  return (await atMost(PROBE_WAIT, asked)) ?? false;
}

const NOTHING: MachineRunResult = { output: "", exitCode: null };

async function writeInput(process: ContainerProcess<string>, text: string): Promise<void> {
  const writer = process.stdin.getWriter();
  await writer.write(text);
  await writer.close();
}

/** Reads until its end, or until the signal aborts. */
async function readOutput(process: ContainerProcess<string>, signal: AbortSignal): Promise<string> {
  const reader = process.stdout.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    let output = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return output;
      output += value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
