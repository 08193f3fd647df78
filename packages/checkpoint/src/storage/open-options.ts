/** Checks options, so that a mistyped one is not silently ignored. */
import { DeepwrightError } from "deepwright/errors";

/** In milliseconds. */
export function secondsOption(name: string, seconds: number): number {
  if (typeof seconds === "number" && seconds >= 0) return seconds * 1_000;
  throw new DeepwrightError("INVALID_OPTION", `${name} must be a number of seconds, not ${String(seconds)}.`);
}
