/**
 * Errors that only the caller can fix end the run, wherever in the tree they occur: a model could do nothing with
 * them.
 */
import { ConfigurationError, DeepwrightError, type ErrorCode } from "../../errors.ts";

const CODES: ReadonlySet<string> = new Set<ErrorCode>(["CHECKPOINTER_REQUIRED", "PRICE_UNKNOWN"]);
const mistakes = new WeakSet<object>();

/** Has the gate let this error of a child pass, if it is such a mistake; otherwise false. */
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
