/** A machine made of the one thing an environment can do: run a command. */
import { randomBytes } from "node:crypto";
import { SandboxError } from "deepwright";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import { GET, PUT, partsOf, readGet, readPut, scriptLine } from "./file-lines.ts";

/** Hints: an environment may ignore them, since a command is stopped from within. */
export interface HarborExecOptions {
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** The exit code may be spelled as other languages do. */
export interface HarborResult {
  readonly stdout?: string | null;
  readonly stderr?: string | null;
  readonly exitCode?: number | null;
  readonly exit_code?: number | null;
  readonly return_code?: number | null;
}

export interface HarborEnvironment {
  /** By which a lease notes it; absent: made up. */
  readonly id?: string;
  /** Runs a line by a POSIX shell. A command that fails is a result. */
  exec(command: string, options?: HarborExecOptions): Promise<HarborResult>;
  /** Stores the bytes under an absolute path, and throws when it cannot. Absent: files go through `exec`. */
  uploadFile?(path: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of a file; throws when there are none to be had. Absent: files go through `exec`. */
  downloadFile?(path: string): Promise<Uint8Array>;
}

/** Seconds one command of a transfer may take. */
const TRANSFER_SECONDS = 60;
/** Bytes asked for at once; less where the answer was cut short. */
const GET_BYTES = 256 * 1024;
const FEWEST_GET_BYTES = 1024;

export function harborMachine(
  id: string,
  environment: HarborEnvironment,
  workingDirectory: string,
): RemoteMachine {
  const run = (line: string, options: MachineRunOptions) => execute(environment, line, options);
  return {
    id,
    workingDirectory,
    run,
    put: async (path, bytes, signal) => {
      if (environment.uploadFile === undefined) return putThrough(run, path, bytes, signal);
      return environment.uploadFile(path, bytes).then(
        () => undefined,
        (error: unknown) => unclear(error),
      );
    },
    get: async (path, signal) => {
      if (environment.downloadFile === undefined) return getThrough(run, path, signal);
      return environment.downloadFile(path).catch((error: unknown) => unclear(error));
    },
  };
}

/** An environment does not say why; the sandbox is asked then. */
function unclear(error: unknown): TransferFailure {
  if (SandboxError.isInstance(error)) throw error;
  return "unclear";
}

async function execute(
  environment: HarborEnvironment,
  line: string,
  { timeoutSeconds, signal }: MachineRunOptions,
): Promise<MachineRunResult> {
  try {
    const result = await environment.exec(line, { timeoutSeconds, signal });
    return {
      output: `${result.stdout ?? ""}${result.stderr ?? ""}`,
      exitCode: result.exitCode ?? result.exit_code ?? result.return_code ?? null,
    };
  } catch (error) {
    if (SandboxError.isInstance(error)) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new SandboxError(
      `The environment could not run a command: ${said.slice(0, 300)}`,
      "SANDBOX_UNAVAILABLE",
      error,
    );
  }
}

type Run = RemoteMachine["run"];

async function putThrough(
  run: Run,
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<TransferFailure | undefined> {
  const mark = randomBytes(16).toString("hex");
  const parts = partsOf(bytes);
  for (const [index, part] of parts.entries()) {
    signal?.throwIfAborted();
    const step = index === parts.length - 1 ? "last" : "more";
    const line = scriptLine(PUT, mark, [path, step, part]);
    const said = readPut(await output(run, line, signal), mark);
    if (said !== "ok") return said;
  }
  return undefined;
}

async function getThrough(
  run: Run,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | TransferFailure> {
  const pieces: Uint8Array[] = [];
  let size = GET_BYTES;
  for (let from = 0; ; ) {
    signal?.throwIfAborted();
    const mark = randomBytes(16).toString("hex");
    const got = readGet(await output(run, scriptLine(GET, mark, [path, from, size]), signal), mark);
    if (typeof got === "string" && got !== "cut") return got;
    if (got === "cut") {
      size = Math.floor(size / 4);
      if (size < FEWEST_GET_BYTES)
        throw new SandboxError(
          "The environment gave no usable answer to a download.",
          "FILE_OPERATION_FAILED",
        );
      continue;
    }
    pieces.push(got.bytes);
    from += got.bytes.length;
    if (from >= got.size || got.bytes.length === 0) return Buffer.concat(pieces);
  }
}

async function output(run: Run, line: string, signal: AbortSignal | undefined): Promise<string> {
  const limit = AbortSignal.timeout(TRANSFER_SECONDS * 1000);
  const result = await run(line, {
    timeoutSeconds: TRANSFER_SECONDS,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  return result.output;
}
