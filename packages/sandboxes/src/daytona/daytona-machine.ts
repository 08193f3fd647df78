/** A Daytona sandbox as a machine that runs lines and moves files. */
import { randomBytes } from "node:crypto";
import type { Sandbox } from "@daytonaio/sdk";
import { atMost } from "../modal/create-or-undo.ts";
import { bytesOf, isPlainPath, moveLine, readLine } from "../remote/odd-names.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import { isNotFound, lostSandbox, statusOf } from "../remote/vendor-errors.ts";
import type { DaytonaCalls } from "./daytona-calls.ts";

/** Milliseconds for the question whether the sandbox is still there. */
const PROBE_WAIT = 5000;
const TRANSFER_SECONDS = 600;
const ODD_NAME_SECONDS = 600;

/** It is over, or nothing can be done with it. */
const GONE = new Set(["destroyed", "destroying", "error", "build_failed"]);
/** Its files are there, and it can be started. */
const ASLEEP = new Set(["stopped", "stopping", "archived", "archiving", "paused", "pausing"]);

export class DaytonaMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sandbox: Sandbox;
  readonly #calls: DaytonaCalls;
  readonly #startSeconds: number;
  #isOver = false;
  #starting: Promise<void> | undefined;

  constructor(sandbox: Sandbox, calls: DaytonaCalls, workingDirectory: string, startSeconds: number) {
    this.id = sandbox.id;
    this.#sandbox = sandbox;
    this.#calls = calls;
    this.workingDirectory = workingDirectory;
    this.#startSeconds = startSeconds;
  }

  /** From now on everything is a `SANDBOX_LOST`. */
  end(): void {
    this.#isOver = true;
  }

  async isGone(): Promise<boolean> {
    if (!this.#isOver && (await this.#state()) === "gone") this.#isOver = true;
    return this.#isOver;
  }

  /** Starts it when it is not running. False: it is gone. */
  async awake(): Promise<boolean> {
    const state = await this.#state();
    if (state === "gone") return false;
    if (state === "asleep") await this.#start();
    return true;
  }

  /** The SDK's call knows no signal: what nobody waits for ends with the command. */
  async run(line: string, { timeoutSeconds }: MachineRunOptions): Promise<MachineRunResult> {
    return this.#attempt("run a command", async () => {
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
    const { output } = await this.#quick(moveLine(upload, path));
    return /\bok\b/.test(output) ? undefined : "unclear";
  }

  async get(path: string): Promise<Uint8Array | TransferFailure> {
    if (!isPlainPath(path)) return bytesOf((await this.#quick(readLine(path))).output) ?? "unclear";
    return this.#attempt("read a file", () =>
      this.#sandbox.fs.downloadFile(path, TRANSFER_SECONDS).then((bytes) => new Uint8Array(bytes), unclear),
    );
  }

  #upload(path: string, bytes: Uint8Array): Promise<TransferFailure | undefined> {
    return this.#attempt("store a file", () =>
      this.#sandbox.fs.uploadFile(Buffer.from(bytes), path, TRANSFER_SECONDS).then(() => undefined, unclear),
    );
  }

  #quick(line: string): Promise<MachineRunResult> {
    return this.run(line, { timeoutSeconds: ODD_NAME_SECONDS, signal: new AbortController().signal });
  }

  /**
   * A failure is a `SANDBOX_LOST` when the sandbox is over, whatever the call said. One that was refused because the
   * sandbox sleeps is made again when it is awake; a connection that broke is not: the command may have run.
   */
  async #attempt<Result>(action: string, act: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) throw lostSandbox(this.id);
    try {
      return await act();
    } catch (error) {
      const state = this.#isOver ? "gone" : await this.#state();
      if (state === "gone") {
        this.#isOver = true;
        throw lostSandbox(this.id, this.#calls.error(action, error));
      }
      if (state !== "asleep" || !isRefusal(error)) throw this.#calls.error(action, error);
      await this.#start();
      return await this.#calls.call(action, act);
    }
  }

  /** Undefined: Daytona does not say. */
  async #state(): Promise<"gone" | "asleep" | "awake" | undefined> {
    const asked = this.#sandbox.refreshData().then(
      () => this.#sandbox.state ?? "",
      (error: unknown) => (isNotFound(error) ? "destroyed" : undefined),
    );
    const state = await atMost(PROBE_WAIT, asked);
    if (state === undefined) return undefined;
    return GONE.has(state) ? "gone" : ASLEEP.has(state) ? "asleep" : "awake";
  }

  #start(): Promise<void> {
    this.#starting ??= this.#calls
      .call("start the sandbox", () => this.#sandbox.start(this.#startSeconds))
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }
}

/** Whether the request was answered, and not carried out. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 500;
}

const ABOUT_THE_FILE = new Set([
  "FILE_NOT_FOUND",
  "FILE_ACCESS_DENIED",
  "INVALID_FILE_PATH",
  "FILE_READ_FAILED",
]);

/** Daytona has no word for most of what can be wrong with a file: the sandbox is asked. */
function unclear(error: unknown): TransferFailure {
  const { code, source } = error as { readonly code?: unknown; readonly source?: unknown };
  const status = statusOf(error);
  const isDaemon = source === "DAYTONA_DAEMON" || ABOUT_THE_FILE.has(String(code));
  if (isDaemon || status === 400 || status === 500) return "unclear";
  throw error;
}
