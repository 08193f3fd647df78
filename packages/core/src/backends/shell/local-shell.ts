/**
 * Files on this machine's disk, and commands in this machine's shell. It isolates nothing.
 *
 * A command runs as the user of this process and may read, change and send everything that user can: `rootDir` and
 * `virtualMode` apply to the file methods alone. Time, output, environment and the life of processes are limited. Use a
 * sandbox for untrusted work.
 */

import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { checkNames } from "../../check-options.ts";
import { checkDurations } from "../../duration.ts";
import { ConfigurationError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import type { BackendRuntime, ExecuteOptions, ExecuteResponse, SandboxBackendProtocol } from "../backend.ts";
import { systemCode } from "../disk/file-errors.ts";
import { FilesystemBackend } from "../disk/filesystem.ts";
import { FILESYSTEM_OPTIONS, type FilesystemBackendOptions } from "../disk/filesystem-options.ts";
import { recordedCommand } from "../disk/note-command.ts";
import type { WithCommandNote } from "../is-sandbox.ts";
import { SandboxError } from "../sandbox-error.ts";
import { withMembers } from "../with-members.ts";
import { commandEnvironment } from "./environment.ts";

/** null means absent. */
export interface LocalShellBackendOptions extends FilesystemBackendOptions {
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
  /** Variables for commands, besides a few harmless ones. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Gives commands every variable of this process, keys of models included; default false. */
  readonly inheritEnv?: boolean | null;
  /** Files that `initialize` makes where there are none, by path. */
  readonly initialFiles?: Readonly<Record<string, string>> | null;
}

interface CommandSettings {
  readonly timeout: number;
  readonly maxOutputBytes: number;
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: boolean;
  readonly initialFiles: Readonly<Record<string, string>>;
}

export class LocalShellBackend extends FilesystemBackend implements SandboxBackendProtocol, WithCommandNote {
  static override readonly [GIVES_OUR_RESULTS] = true;
  /** Begins with `local-`: where it runs, nothing is isolated. */
  readonly id = `local-${randomBytes(8).toString("hex")}`;
  readonly #commands: CommandSettings;
  #initialized: Promise<void> | undefined;
  #isInitialized = false;
  readonly #running = new Set<AbortController>();
  /** Commands of runs whose changes are being recorded. */
  readonly #recorded = new Set<Promise<unknown>>();

  /** Touches no file and starts nothing. */
  constructor(options: LocalShellBackendOptions = {}) {
    super(filesystemPart(options));
    this.#commands = commandSettings(options);
  }

  /** A backend with its directory and initial files. */
  static async create(options: LocalShellBackendOptions = {}): Promise<LocalShellBackend> {
    const backend = new LocalShellBackend(options);
    await backend.initialize();
    return backend;
  }

  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  get isRunning(): boolean {
    return this.#isInitialized;
  }

  /** How commands see the files, for the model. */
  get commandNote(): string {
    return this.settings.virtualMode
      ? "Commands start in the directory that file paths call `/`: in a command, write `./a/b` for the file `/a/b`."
      : `Commands start in \`${this.workingDirectory}\` and use the same paths as files do.`;
  }

  /** Makes the directory and the initial files. The first command does so too; a second call is an error. */
  async initialize(): Promise<void> {
    if (this.#initialized !== undefined)
      throw new SandboxError("The backend is initialized already.", "ALREADY_INITIALIZED");
    await this.#ready();
  }

  /**
   * Ends running commands, and waits until their changes are recorded. It can be initialized again; closing twice is
   * safe.
   */
  override async close(): Promise<void> {
    for (const controller of this.#running)
      controller.abort(new SandboxError("The backend was closed.", "NOT_INITIALIZED"));
    this.#initialized = undefined;
    this.#isInitialized = false;
    await Promise.allSettled(this.#recorded);
    await super.close();
  }

  /**
   * Runs a command in `rootDir`. Standard output and error are in the order of writing. A command that cannot be run is
   * a `SandboxError`; a command that fails is a result. Its background processes end with it.
   */
  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResponse> {
    const { signal, timeout = this.#commands.timeout } = options;
    if (!(timeout > 0))
      throw new SandboxError(`timeout must be more than 0 seconds, not ${timeout}.`, "INVALID_COMMAND");
    signal?.throwIfAborted();
    await this.#ready();
    signal?.throwIfAborted();
    const controller = new AbortController();
    this.#running.add(controller);
    try {
      const stop = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
      return await this.#run(command, timeout, stop, options.onOutput);
    } finally {
      this.#running.delete(controller);
    }
  }

  async #run(
    command: string,
    timeoutSeconds: number,
    signal: AbortSignal,
    onOutput: ExecuteOptions["onOutput"],
  ): Promise<ExecuteResponse> {
    const { rootDir: cwd } = this.settings;
    const { maxOutputBytes, env, inheritEnv } = this.#commands;
    const variables = commandEnvironment({ env, inheritEnv });
    const { runCommand } = await import("./run-command.ts");
    return runCommand(command, { cwd, env: variables, timeoutSeconds, maxOutputBytes, signal, onOutput });
  }

  /** In a run, each command is noted with the thread, and its changes of `rootDir` are recorded. */
  override withRuntime(runtime: BackendRuntime): this {
    const execute = (command: string, options?: ExecuteOptions): Promise<ExecuteResponse> => {
      const run = () => this.execute(command, options);
      const recorded = recordedCommand(command, this.settings.rootDir, runtime, run, options);
      this.#recorded.add(recorded);
      return recorded.finally(() => this.#recorded.delete(recorded));
    };
    return withMembers(super.withRuntime(runtime), { execute });
  }

  /** Initialises once for all callers; tries again after a failure. */
  #ready(): Promise<void> {
    this.#initialized ??= this.#makeFiles().then(
      () => {
        this.#isInitialized = true;
      },
      (error: unknown) => {
        this.#initialized = undefined;
        throw error;
      },
    );
    return this.#initialized;
  }

  async #makeFiles(): Promise<void> {
    await makeRoot(this.settings.rootDir);
    for (const [path, content] of Object.entries(this.#commands.initialFiles)) {
      const result = await this.write(path, content);
      if (result.error !== undefined && result.code !== "FILE_EXISTS")
        throw new SandboxError(`An initial file was not made: ${result.error}.`, "FILE_OPERATION_FAILED");
    }
  }
}

/** Errors do not show the path of the directory. */
async function makeRoot(rootDir: string): Promise<void> {
  try {
    await mkdir(rootDir, { recursive: true });
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new SandboxError(`The working directory cannot be made (${code}).`, "FILE_OPERATION_FAILED", error);
  }
}

const COMMAND_OPTIONS = ["timeout", "maxOutputBytes", "env", "inheritEnv", "initialFiles"];

function filesystemPart(options: LocalShellBackendOptions): FilesystemBackendOptions {
  checkNames("LocalShellBackend", options, [...COMMAND_OPTIONS, ...FILESYSTEM_OPTIONS]);
  return Object.fromEntries(Object.entries(options).filter(([name]) => !COMMAND_OPTIONS.includes(name)));
}

function commandSettings(options: LocalShellBackendOptions): CommandSettings {
  checkDurations({ unit: "seconds", unlimited: true }, { timeout: options.timeout });
  return {
    timeout: options.timeout ?? 120,
    maxOutputBytes: Math.floor(positive("maxOutputBytes", options.maxOutputBytes) ?? 100_000),
    env: options.env ?? {},
    inheritEnv: options.inheritEnv ?? false,
    initialFiles: options.initialFiles ?? {},
  };
}

function positive(name: string, value: number | null | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "number" && value > 0) return value;
  throw new ConfigurationError("INVALID_OPTION", `${name} must be a positive number, got ${String(value)}.`);
}
