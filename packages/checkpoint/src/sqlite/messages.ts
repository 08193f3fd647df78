/** Messages between the thread of a database and its users. */
import { DeepwrightError, type ErrorCode } from "deepwright/errors";

export interface Request {
  readonly id: number;
  /** `connection`, or one of the services of a database. */
  readonly service: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown; readonly failure?: undefined }
  | { readonly id: number; readonly failure: Failure };

/** An error as plain data. */
export interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  /** Only of our own errors, and so for the hint. */
  readonly code: ErrorCode | undefined;
  readonly hint: string | undefined;
  readonly cause: Failure | undefined;
}

export function failureOf(error: unknown): Failure {
  // By name, too: a service of another package may be bundled with a class of its own.
  const isOurs = error instanceof DeepwrightError || (error as Error | null)?.name === "DeepwrightError";
  const known = isOurs ? (error as DeepwrightError) : undefined;
  return {
    message: error instanceof Error ? error.message : String(error),
    stack: error instanceof Error ? error.stack : undefined,
    code: known?.code as ErrorCode | undefined,
    hint: known?.hint,
    cause: error instanceof Error && error.cause !== undefined ? failureOf(error.cause) : undefined,
  };
}

export function errorOf(failure: Failure): Error {
  const { message, stack, code, hint } = failure;
  const cause = failure.cause === undefined ? undefined : errorOf(failure.cause);
  if (code !== undefined) {
    const text = hint === undefined ? message : message.slice(0, -hint.length - 1);
    return new DeepwrightError(code, text, { hint, cause });
  }
  const error = new Error(message, cause === undefined ? undefined : { cause });
  if (stack !== undefined) error.stack = stack;
  return error;
}
