import { EXIT, type ExitCode } from "./exit-codes.ts";

/** A failure the person at the terminal can do something about: shown as words, without a stack. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** Advice for the user, one sentence. */
  readonly hint: string | undefined;

  constructor(message: string, details: { exitCode?: ExitCode; hint?: string; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "CommandError";
    this.exitCode = details.exitCode ?? EXIT.failed;
    this.hint = details.hint;
  }
}

/** The command was written wrongly: exit code 2. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.usage, hint });
}
