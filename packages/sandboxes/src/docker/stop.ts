/** Ends of a command from outside (its time or an abort), and the check for commands that are none. */
import { type ExecuteResponse, SandboxError } from "deepwright";
import { after } from "deepwright/duration";

export interface Stop {
  /** Resolves with whichever comes first, or never. */
  readonly requested: Promise<"timeout" | "abort">;
  abortReason(): unknown;
  /** Clears the timer and the listener. */
  dispose(): void;
}

/** Longest argument of a program on Linux. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

export function stopFor(seconds: number, signal: AbortSignal | undefined): Stop {
  let dispose = (): void => undefined;
  const requested = new Promise<"timeout" | "abort">((resolve) => {
    const stopTimer = after(seconds * 1000, () => resolve("timeout"));
    const onAbort = (): void => resolve("abort");
    signal?.addEventListener("abort", onAbort, { once: true });
    dispose = () => {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
    };
  });
  return { requested, abortReason: () => signal?.reason, dispose: () => dispose() };
}

/** The value of the promise; undefined when there was none within that many milliseconds. */
export async function firstOf<Value>(
  milliseconds: number,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The response to a command without words; undefined for any other. */
export function emptyResponse(command: unknown): ExecuteResponse | undefined {
  if (typeof command === "string" && command.trim() !== "") return undefined;
  return { output: "The command is empty.", exitCode: 1, truncated: false };
}

export function checkCommand(command: string, timeout: number): void {
  if (command.includes("\0")) throw invalid("The command contains a NUL character.");
  if (!command.isWellFormed()) throw invalid("The command is not valid Unicode.");
  if (!(timeout > 0)) throw invalid(`timeout must be more than 0 seconds, not ${timeout}.`);
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES)
    throw invalid(
      `The command has ${bytes} bytes, but at most ${MAX_COMMAND_BYTES} can be run: write it to a file and run that.`,
    );
}

function invalid(message: string): SandboxError {
  return new SandboxError(message, "INVALID_COMMAND");
}
