/** A Daytona sandbox as a machine that runs lines and moves files. */
import { randomBytes } from "node:crypto";
import type { Sandbox } from "@daytonaio/sdk";
import { CarefulCalls, type MachineState } from "../remote/careful-calls.ts";
import { bytesOf, isPlainPath, moveLine, readLine } from "../remote/odd-names.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import type { VendorCalls } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";

const TRANSFER_SECONDS = 600;

/** It is over, or nothing can be done with it. */
const GONE = new Set(["destroyed", "destroying", "error", "build_failed"]);
const WAKING = new Set(["creating", "starting", "restoring", "resuming", "pulling_snapshot"]);
/** Its files are there, and it can be started, or waited for. */
const ASLEEP = new Set(["stopped", "stopping", "archived", "archiving", "paused", "pausing", ...WAKING]);

export class DaytonaMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sandbox: Sandbox;
  readonly #calls: CarefulCalls;

  constructor(sandbox: Sandbox, calls: VendorCalls, workingDirectory: string, startSeconds: number) {
    this.id = sandbox.id;
    this.#sandbox = sandbox;
    this.workingDirectory = workingDirectory;
    this.#calls = new CarefulCalls({
      id: sandbox.id,
      state: () => stateOf(sandbox),
      start: () => calls.call("start the sandbox", () => wake(sandbox, startSeconds)),
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

  /** Starts it when it is not running. False: it is gone. */
  awake(): Promise<boolean> {
    return this.#calls.awake();
  }

  /** The SDK's call takes no signal: an abandoned call ends with its command. */
  async run(
    line: string,
    { timeoutSeconds }: Pick<MachineRunOptions, "timeoutSeconds">,
  ): Promise<MachineRunResult> {
    return this.#calls.attempt("run a command", async () => {
      const { result, exitCode } = await this.#sandbox.process.executeCommand(
        line,
        undefined,
        undefined,
        timeoutSeconds,
      );
      return { output: result, exitCode: exitCode ?? null };
    });
  }

  async put(path: string, bytes: Uint8Array): Promise<TransferFailure | undefined> {
    if (isPlainPath(path)) return this.#upload(path, bytes);
    const upload = `/tmp/.deepwright-up-${randomBytes(12).toString("hex")}`;
    const failure = await this.#upload(upload, bytes);
    if (failure !== undefined) return failure;
    const { output } = await this.run(moveLine(upload, path), { timeoutSeconds: TRANSFER_SECONDS });
    return /\bok\b/.test(output) ? undefined : "unclear";
  }

  async get(path: string): Promise<Uint8Array | TransferFailure> {
    if (isPlainPath(path))
      return this.#calls.transfer(
        "read a file",
        async () => new Uint8Array(await this.#sandbox.fs.downloadFile(path, TRANSFER_SECONDS)),
        whyNot,
      );
    const { output } = await this.run(readLine(path), { timeoutSeconds: TRANSFER_SECONDS });
    return bytesOf(output) ?? "unclear";
  }

  #upload(path: string, bytes: Uint8Array): Promise<TransferFailure | undefined> {
    return this.#calls.transfer(
      "store a file",
      async () => {
        await this.#sandbox.fs.uploadFile(Buffer.from(bytes), path, TRANSFER_SECONDS);
        return undefined;
      },
      whyNot,
    );
  }
}

async function stateOf(sandbox: Sandbox): Promise<MachineState> {
  try {
    await sandbox.refreshData();
  } catch (error) {
    if (isNotFound(error)) return "gone";
    throw error;
  }
  const state = sandbox.state ?? "";
  return GONE.has(state) ? "gone" : ASLEEP.has(state) ? "asleep" : "awake";
}

async function wake(sandbox: Sandbox, seconds: number): Promise<void> {
  const state = sandbox.state ?? "";
  if (WAKING.has(state)) return sandbox.waitUntilStarted(seconds);
  if (state === "stopping") await sandbox.waitUntilStopped(seconds);
  await sandbox.start(seconds);
}

/** Errors of the daemon in the sandbox are about the file. They say too little, so the sandbox is asked. */
function whyNot(error: unknown): TransferFailure | undefined {
  const { code, source } = error as { readonly code?: unknown; readonly source?: unknown };
  if (code === "FILE_NOT_FOUND") return "file_not_found";
  return source === "DAYTONA_DAEMON" ? "unclear" : undefined;
}
