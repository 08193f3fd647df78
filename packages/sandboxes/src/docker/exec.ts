/** One process in a container, by the exec calls of the engine. */
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "./engine.ts";
import { createFrameReader } from "./frames.ts";

export interface ExecRequest {
  readonly argv: readonly string[];
  /** `uid:gid`; absent: as the container has it. */
  readonly user?: string | undefined;
  readonly workingDirectory?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: there is no input. */
  readonly input?: Uint8Array;
  onOutput(chunk: Uint8Array): void;
}

export interface RunningExec {
  /** Resolves when the output has ended; rejects when the connection broke before. */
  readonly ended: Promise<void>;
  /** To be asked when it has ended; null: not known. */
  exitCode(): Promise<number | null>;
  /** Lets go of the connection. Safe twice. */
  close(): void;
}

/** Between the end of the output and the moment the engine knows the exit code: milliseconds. */
const EXIT_CODE_LIMIT = 3000;

/** Errors are the engine's own. */
export async function startExec(
  engine: Engine,
  container: string,
  request: ExecRequest,
  signal?: AbortSignal,
): Promise<RunningExec> {
  const { user, workingDirectory, env = {}, input } = request;
  const options = {
    Cmd: [...request.argv],
    AttachStdin: input !== undefined,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(user === undefined ? {} : { User: user }),
    ...(workingDirectory === undefined ? {} : { WorkingDir: workingDirectory }),
  };
  const call = { action: "run a command", signal };
  const exec = await engine.ask(
    (abortSignal) => engine.docker.getContainer(container).exec({ ...options, abortSignal }),
    call,
  );
  const stream = await engine.ask(
    (abortSignal) =>
      exec.start({ hijack: true, stdin: input !== undefined, Detach: false, Tty: false, abortSignal }),
    call,
  );
  const ended = endOf(stream, request.onOutput);
  ended.catch(() => undefined);
  if (input !== undefined) stream.end(input);
  return {
    ended,
    exitCode: async () => {
      for (const start = performance.now(); performance.now() - start < EXIT_CODE_LIMIT; await pause(20)) {
        const { Running, ExitCode } = await engine.ask((abortSignal) => exec.inspect({ abortSignal }), {
          action: "tell how a command ended",
        });
        if (!Running) return typeof ExitCode === "number" ? ExitCode : null;
      }
      return null;
    },
    close: () => {
      stream.destroy();
    },
  };
}

function endOf(stream: Duplex, onOutput: (chunk: Uint8Array) => void): Promise<void> {
  stream.on("data", createFrameReader(onOutput));
  return new Promise((resolve, reject) => {
    stream.once("end", resolve);
    stream.on("error", reject);
    stream.once("close", () => reject(new Error("the connection was closed while the command ran")));
  });
}
