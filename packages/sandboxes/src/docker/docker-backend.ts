/**
 * Files and commands in a container.
 *
 * A command gets a mark in its environment, empty input, and both its streams as one. The engine cannot end a process,
 * so a second process in the container does: see `scripts.ts`.
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
import { OutputRing } from "deepwright/internal";
import { checkMounts } from "./check-mounts.ts";
import { type ContainerCalls, openCalls } from "./container-calls.ts";
import type { Engine } from "./engine.ts";
import type { RunningExec } from "./exec.ts";
import { CALL_VARIABLE, DOWNLOAD, DOWNLOAD_MANY, RUN, STOP, UPLOAD } from "./scripts.ts";
import { checkCommand, emptyResponse, firstOf, stopFor } from "./stop.ts";
import { readDownloads, type Transferred } from "./transfer.ts";
import { withoutTtyNoise } from "./tty-noise.ts";

export interface DockerBackendOptions extends BaseSandboxOptions {
  readonly engine: Engine;
  /** Id or name. */
  readonly container: string;
  readonly workingDirectory: string;
  /** `uid:gid`; absent: as the container has it. */
  readonly user?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  readonly maxOutputBytes: number;
  /** Bytes; 0: no limit. */
  readonly maxFileBytes: number;
  /**
   * The container is ours alone. So a process without mark and parent was left by a command, and a command that cannot
   * be stopped ends the container.
   */
  readonly isOurs: boolean;
  /** Called when the container is used, and again while it is. */
  onUse?(): void;
  /** Ends the container. */
  end(): Promise<void>;
}

/** Milliseconds the output may take to end after the kill. */
const KILL_LIMIT = 2000;
/** Milliseconds that an aborted call waits for the end of its command. */
const ABORT_LIMIT = 2000;
const TIMED_OUT = 124;
const FIRST_SIGNAL = 128;
/** A shell takes it in units of so many bytes. */
const FILE_UNIT = 512;
const PARALLEL_UPLOADS = 4;
const REFUSED = 3;

const ROOTLESS =
  "The engine is rootless, so that commands can do what the user it runs as can do: give the directory to that user. " +
  "In a container, `user: 0` is always that user.";

export class DockerBackend extends BaseSandbox {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #options: DockerBackendOptions;
  readonly #calls: ContainerCalls;
  #isEnded = false;

  constructor(options: DockerBackendOptions) {
    super(options);
    this.id = `docker-${options.container.slice(0, 12)}`;
    this.workingDirectory = options.workingDirectory;
    this.#options = options;
    this.#calls = openCalls(options);
  }

  /** Throws when the container does not have its working directory. */
  async checkDirectory(): Promise<void> {
    const { workingDirectory } = this;
    if (workingDirectory === "/") return;
    const { exitCode } = await this.#calls.run({
      argv: ["/bin/sh", "-c", '[ -d "$1" ]', "check", workingDirectory],
      workingDirectory: "/",
      env: { [CALL_VARIABLE]: "check" },
    });
    if (exitCode === 0) return;
    throw new SandboxError(
      `The container has no directory '${workingDirectory}' for commands to start in. Make it there, or name another with \`workingDirectory\`.`,
      "SANDBOX_UNAVAILABLE",
    );
  }

  /** Throws unless so many things of the workspace are mounted in it, and nothing else. */
  async checkMounts(count: number): Promise<void> {
    if (count === 0) return;
    const { output } = await this.#calls.run({
      argv: ["/bin/sh", "-c", "cat /proc/self/mountinfo"],
      workingDirectory: "/",
      env: { [CALL_VARIABLE]: "check" },
    });
    checkMounts(output.toString("latin1"), this.workingDirectory, count);
  }

  /** Throws when its user cannot write to the working directory. */
  async checkWritable(isRootless: boolean): Promise<void> {
    const { exitCode } = await this.#calls.run({
      argv: ["/bin/sh", "-c", "[ -w . ]"],
      workingDirectory: this.workingDirectory,
      env: { [CALL_VARIABLE]: "check" },
    });
    if (exitCode === 0) return;
    throw new SandboxError(
      `The user ${this.#options.user} of the container cannot write to the workspace. ${isRootless ? ROOTLESS : "Give the directory to that user, or name another with `user`."}`,
      "SANDBOX_UNAVAILABLE",
    );
  }

  /** From now on every call is a `SANDBOX_LOST`: running commands end with the container. */
  markEnded(): void {
    this.#isEnded = true;
  }

  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResponse> {
    const { signal, timeout = this.#options.timeout } = options;
    const empty = emptyResponse(command);
    if (empty !== undefined) return empty;
    checkCommand(command, timeout);
    signal?.throwIfAborted();
    this.#use();
    const ring = new OutputRing(this.#options.maxOutputBytes);
    const call = randomBytes(16).toString("hex");
    const stop = stopFor(timeout, signal);
    const inUse = setInterval(() => this.#options.onUse?.(), 10_000);
    inUse.unref();
    try {
      const exec = await this.#start(command, call, ring, signal);
      const exitCode = await this.#exitCode(exec, call, stop).finally(() => exec.close());
      if (this.#isEnded) throw this.#calls.lost();
      const { output, truncated } = ring.collected();
      return { output: withoutTtyNoise(output), truncated, ...exitCode };
    } finally {
      clearInterval(inUse);
      stop.dispose();
    }
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options: OperationOptions = {},
  ): Promise<FileUploadResponse[]> {
    const copies = files.map(([path, bytes]) => [path, bytes.slice()] as const);
    const responses: FileUploadResponse[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < copies.length) {
        const index = next++;
        const [path, bytes] = copies[index] as (typeof copies)[number];
        responses[index] = { path, error: await this.#upload(path, bytes, options.signal) };
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_UPLOADS, copies.length) }, worker));
    return responses;
  }

  /** One call for all of them. */
  async downloadFiles(
    paths: readonly string[],
    options: OperationOptions = {},
  ): Promise<FileDownloadResponse[]> {
    const canonical = paths.map((path) => this.#canonical(path));
    const wanted = canonical.filter((path) => path !== undefined);
    const got = wanted.length === 0 ? [] : await this.#download(wanted, options.signal);
    let next = 0;
    return paths.map((path, index) => {
      const one: Transferred = canonical[index] === undefined ? "invalid_path" : (got[next++] as Transferred);
      return typeof one === "string"
        ? { path, content: null, error: one }
        : { path, content: one, error: null };
    });
  }

  #use(): void {
    if (this.#isEnded) throw this.#calls.lost();
    this.#options.onUse?.();
  }

  #canonical(path: string): string | undefined {
    const canonical = canonicalPath(path, { base: this.workingDirectory });
    return canonical.error === undefined ? canonical.path : undefined;
  }

  async #start(
    command: string,
    call: string,
    ring: OutputRing,
    signal: AbortSignal | undefined,
  ): Promise<RunningExec> {
    const { env, maxFileBytes, workingDirectory } = this.#options;
    // A shell reads a command that begins with `-` or `+` as its own option.
    const words = /^[-+]/.test(command) ? ` ${command}` : command;
    const blocks = Math.ceil(maxFileBytes / FILE_UNIT);
    try {
      return await this.#calls.start(
        {
          argv: shell(RUN, call, this.#strays, String(blocks), words),
          workingDirectory,
          env: { HOME: workingDirectory, ...env, [CALL_VARIABLE]: call },
          onOutput: (chunk) => ring.add(chunk),
        },
        signal,
      );
    } catch (error) {
      // It may have begun all the same.
      if (signal?.aborted) void this.#stop(call).catch(() => undefined);
      throw error;
    }
  }

  get #strays(): string {
    return this.#options.isOurs ? "1" : "0";
  }

  async #exitCode(
    exec: RunningExec,
    call: string,
    stop: ReturnType<typeof stopFor>,
  ): Promise<Pick<ExecuteResponse, "exitCode" | "signal">> {
    const first = await Promise.race([
      exec.ended.then(
        () => "ended" as const,
        (error: unknown) => ({ error }),
      ),
      stop.requested,
    ]);
    if (first === "abort") {
      await firstOf(
        ABORT_LIMIT,
        this.#stop(call).catch(() => undefined),
      );
      throw stop.abortReason();
    }
    if (first === "timeout") return this.#endLate(exec, call);
    if (first !== "ended") throw await this.#broken(first.error, call);
    const exitCode = await this.#calls.answer(exec.exitCode());
    if (exitCode !== null && exitCode < FIRST_SIGNAL) return { exitCode };
    // Ended from outside: perhaps with the container, perhaps without its children.
    await this.#calls.checkRunning();
    await this.#stop(call);
    return { exitCode };
  }

  async #endLate(exec: RunningExec, call: string): Promise<Pick<ExecuteResponse, "exitCode" | "signal">> {
    const ended = exec.ended.then(
      () => true,
      () => true,
    );
    const isOver = await this.#stop(call);
    await firstOf(KILL_LIMIT, ended);
    if (!isOver && !(await this.#stop(call))) await this.#giveUp();
    return { exitCode: TIMED_OUT, signal: "SIGKILL" };
  }

  async #giveUp(): Promise<never> {
    const { isOurs, end } = this.#options;
    if (!isOurs)
      throw new SandboxError(
        "The time of the command was up, and it could not be stopped: it still runs in the container.",
        "COMMAND_TIMEOUT",
      );
    await end();
    throw new SandboxError(
      "The time of the command was up, and it could not be stopped: the container was ended.",
      "SANDBOX_LOST",
    );
  }

  /** Whether nothing of the call is left. */
  async #stop(call: string): Promise<boolean> {
    const { exitCode } = await this.#calls.run({
      argv: shell(STOP, call, this.#strays),
      workingDirectory: "/",
      env: { [CALL_VARIABLE]: "stop" },
    });
    return exitCode === 0;
  }

  /** The connection broke while the command ran: it must not go on unseen. */
  async #broken(error: unknown, call: string): Promise<SandboxError> {
    const reason = await this.#calls.reasonFor(error);
    if (reason.code === ("SANDBOX_UNAVAILABLE" as string))
      await firstOf(
        ABORT_LIMIT,
        this.#stop(call).catch(() => undefined),
      );
    return reason;
  }

  async #upload(
    path: string,
    bytes: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<TransferErrorCode | null> {
    const at = this.#canonical(path);
    if (at === undefined) return "invalid_path";
    this.#use();
    const { output } = await this.#calls.run(
      {
        argv: shell(UPLOAD, at, String(bytes.length), randomBytes(16).toString("hex")),
        workingDirectory: "/",
        env: { [CALL_VARIABLE]: "upload" },
        input: bytes,
      },
      signal,
    );
    const said = output.toString("utf8").split("\n", 1)[0] as string;
    if (said === "ok") return null;
    if (CODES.has(said)) return said as TransferErrorCode;
    throw new SandboxError(
      `The container did not take the file: ${said.slice(0, 200) || "no reason given"}.`,
      "FILE_OPERATION_FAILED",
    );
  }

  async #download(paths: readonly string[], signal: AbortSignal | undefined): Promise<Transferred[]> {
    this.#use();
    const isOne = paths.length === 1;
    const { output, exitCode } = await this.#calls.run(
      {
        argv: shell(isOne ? DOWNLOAD : DOWNLOAD_MANY, ...paths),
        workingDirectory: "/",
        env: { [CALL_VARIABLE]: "download" },
      },
      signal,
    );
    if (!isOne) return readDownloads(output, paths.length);
    if (exitCode === 0) return [output];
    const said = output.toString("utf8").trim();
    if (exitCode === REFUSED && CODES.has(said)) return [said as TransferErrorCode];
    throw new SandboxError(
      `The container did not give the file (exit code ${exitCode}).`,
      "FILE_OPERATION_FAILED",
    );
  }
}

const CODES: ReadonlySet<string> = new Set([
  "file_not_found",
  "permission_denied",
  "is_directory",
  "invalid_path",
  "parent_not_found",
]);

function shell(script: string, ...values: readonly string[]): string[] {
  return ["/bin/sh", "-c", script, "deepwright", ...values];
}
