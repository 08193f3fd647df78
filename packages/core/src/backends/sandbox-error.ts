import { DeepwrightError, type ErrorCode, type SandboxErrorCode } from "../errors.ts";

const MARK: unique symbol = Symbol.for("deepwright.sandbox-error") as never;

/** A sandbox could not do the operation. Code and message may be shown to the model. */
export class SandboxError extends DeepwrightError {
  declare readonly code: SandboxErrorCode | (string & {});
  readonly [MARK] = true;

  /** Other sandboxes have codes of their own, so any text is taken. */
  constructor(message: string, code: SandboxErrorCode | (string & {}), cause?: unknown) {
    super(code as ErrorCode, message, { cause });
    this.name = "SandboxError";
  }

  /** Also true for the errors of another copy of this library. */
  static isInstance(error: unknown): error is SandboxError {
    return typeof error === "object" && error !== null && (error as Partial<SandboxError>)[MARK] === true;
  }
}
