/**
 * Errors that only the caller can fix end the run, wherever in the tree they occur: a model could do nothing with
 * them.
 */
import { ConfigurationError, DeepwrightError, type ErrorCode } from "../../errors.ts";

const CODES: ReadonlySet<string> = new Set<ErrorCode>(["CHECKPOINTER_REQUIRED", "PRICE_UNKNOWN"]);
const mistakes = new WeakSet<object>();

/** Lets this error of a child pass the gate if it is a mistake of the caller; otherwise returns false. */
export function passesGate(thrown: unknown): boolean {
  const isMistake =
    thrown instanceof ConfigurationError || (thrown instanceof DeepwrightError && CODES.has(thrown.code));
  if (isMistake) mistakes.add(thrown);
  return isMistake;
}

/** Tools may throw errors of these kinds for reasons of their own; only those of children end the run. */
export function isCallersMistake(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && mistakes.has(thrown);
}
