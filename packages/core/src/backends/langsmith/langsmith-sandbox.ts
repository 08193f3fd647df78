/** A sandbox at LangSmith that a program creates and ends itself. */
import type {
  CaptureSnapshotOptions,
  CreateSandboxOptions,
  Sandbox,
  Snapshot,
  StartSandboxOptions,
} from "langsmith/experimental/sandbox";
import { ConfigurationError, type SandboxErrorCode } from "../../errors.ts";
import { canonicalPath } from "../../paths.ts";
import type {
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileUploadResponse,
  OperationOptions,
  TransferErrorCode,
} from "../backend.ts";
import { untilAborted } from "../key-lock.ts";
import { BaseSandbox } from "../sandbox/base-sandbox.ts";
import { SandboxError } from "../sandbox-error.ts";
import { KEY_HINT, loadSdk, sdkMessage } from "./langsmith-sdk.ts";

export type LangSmithCaptureSnapshotOptions = CaptureSnapshotOptions;
export type LangSmithSnapshot = Snapshot;
export type LangSmithStartSandboxOptions = StartSandboxOptions;

type SdkSandbox = Pick<
  Sandbox,
  "name" | "run" | "read" | "write" | "start" | "stop" | "delete" | "captureSnapshot"
>;

export interface LangSmithSandboxOptions {
  readonly sandbox: SdkSandbox;
  /** Seconds a command may take when the call names none; default 1800. 0: no limit. */
  readonly defaultTimeout?: number;
}

export interface LangSmithSandboxCreateOptions
  extends Omit<CreateSandboxOptions, "name" | "timeout" | "waitForReady" | "snapshotName"> {
  /** The id of the snapshot to start from. Not with `templateName`. */
  readonly snapshotId?: string;
  /** The name of the snapshot to start from. */
  readonly templateName?: string;
  /** Default: LANGSMITH_API_KEY. */
  readonly apiKey?: string;
  /** Seconds a command may take when the call names none; default 1800. 0: no limit. */
  readonly defaultTimeout?: number;
}

const DEFAULT_TIMEOUT = 1800;
const TIMED_OUT = 124;

/**
 * The caller ends the sandbox with `close`. `langsmithSandbox()` of `@deepwright/sandboxes` leaves that to a lease,
 * and keeps output in the order it came.
 */
export class LangSmithSandbox extends BaseSandbox {
  readonly id: string;
  readonly #sandbox: SdkSandbox;
  readonly #timeout: number;
  #isRunning = true;

  constructor({ sandbox, defaultTimeout = DEFAULT_TIMEOUT }: LangSmithSandboxOptions) {
    super();
    this.id = sandbox.name;
    this.#sandbox = sandbox;
    this.#timeout = defaultTimeout;
  }

  /** Creates a sandbox and waits until it is ready. */
  static async create(options: LangSmithSandboxCreateOptions): Promise<LangSmithSandbox> {
    const { snapshotId, templateName, apiKey, defaultTimeout, ...rest } = options ?? {};
    if ((snapshotId === undefined) === (templateName === undefined))
      throw new ConfigurationError(
        "INVALID_OPTION",
        "LangSmithSandbox.create needs either snapshotId or templateName.",
        { hint: 'Write LangSmithSandbox.create({ snapshotId: "…" }).' },
      );
    const { SandboxClient } = await loadSdk(() => import("langsmith/experimental/sandbox"));
    const client = new SandboxClient(apiKey === undefined ? {} : { apiKey });
    const sandbox = await attempt("create a sandbox", () =>
      snapshotId === undefined
        ? client.createSandbox({ ...rest, snapshotName: templateName })
        : client.createSandbox(snapshotId, rest),
    );
    return new LangSmithSandbox({ sandbox, ...(defaultTimeout === undefined ? {} : { defaultTimeout }) });
  }

  /** False after `stop` and `close`. Sandboxes that LangSmith stopped itself are not noticed. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Standard error follows standard output. An aborted call stops waiting; its command ends at its time limit. */
  async execute(
    command: string,
    { timeout = this.#timeout, signal }: ExecuteOptions = {},
  ): Promise<ExecuteResponse> {
    signal?.throwIfAborted();
    const running = attempt("run a command", () => this.#sandbox.run(command, { timeout }));
    try {
      const { stdout, stderr, exit_code } = await untilAborted(running, signal);
      const output = [stdout, stderr].filter((text) => text !== "").join("\n");
      return { output, exitCode: exit_code, truncated: false };
    } catch (error) {
      if (!SandboxError.isInstance(error) || error.code !== "COMMAND_TIMEOUT") throw error;
      return { output: error.message, exitCode: TIMED_OUT, truncated: false };
    }
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    options?.signal?.throwIfAborted();
    return Promise.all(
      paths.map(async (path): Promise<FileDownloadResponse> => {
        const content = await transfer("read a file", path, () => this.#sandbox.read(path));
        return typeof content === "string"
          ? { path, content: null, error: content }
          : { path, content, error: null };
      }),
    );
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    options?.signal?.throwIfAborted();
    const responses: FileUploadResponse[] = [];
    for (const [path, bytes] of files) {
      const error = await transfer("store a file", path, () => this.#sandbox.write(path, bytes));
      responses.push({ path, error: error ?? null });
    }
    return responses;
  }

  /** Starts a stopped sandbox; its files are there. */
  async start(options?: LangSmithStartSandboxOptions): Promise<void> {
    await attempt("start the sandbox", () => this.#sandbox.start(options));
    this.#isRunning = true;
  }

  /** Stops the sandbox and keeps its files. */
  async stop(): Promise<void> {
    await attempt("stop the sandbox", () => this.#sandbox.stop());
    this.#isRunning = false;
  }

  /** Deletes the sandbox and its files. */
  async close(): Promise<void> {
    await attempt("delete the sandbox", () => this.#sandbox.delete());
    this.#isRunning = false;
  }

  async captureSnapshot(name: string, options?: LangSmithCaptureSnapshotOptions): Promise<LangSmithSnapshot> {
    return attempt("capture a snapshot", () => this.#sandbox.captureSnapshot(name, options));
  }
}

const CODES: Readonly<Record<string, SandboxErrorCode>> = {
  LangSmithSandboxAuthenticationError: "ACCESS_DENIED",
  LangSmithQuotaExceededError: "QUOTA_EXCEEDED",
  LangSmithResourceNotFoundError: "SANDBOX_LOST",
  LangSmithCommandTimeoutError: "COMMAND_TIMEOUT",
};

/** Runs a call of the SDK; its failure is thrown as a `SandboxError`. */
async function attempt<Result>(action: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const code = CODES[(error as Error).name] ?? "SANDBOX_UNAVAILABLE";
    const hint = code === "ACCESS_DENIED" ? ` ${KEY_HINT}` : "";
    throw new SandboxError(`LangSmith could not ${action}: ${sdkMessage(error)}${hint}`, code, error);
  }
}

/** The result, or why the file cannot be moved. A failure that is not about the file is thrown. */
async function transfer<Result>(
  action: string,
  path: string,
  call: () => Promise<Result>,
): Promise<Result | TransferErrorCode> {
  if (canonicalPath(path).error !== undefined) return "invalid_path";
  return attempt<Result | TransferErrorCode>(action, async () => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.name === "LangSmithResourceNotFoundError") return "file_not_found";
      if (error.name !== "LangSmithSandboxOperationError") throw error;
      return /EISDIR|is[ _](a )?directory/i.test(error.message) ? "is_directory" : "permission_denied";
    }
  });
}
