/** Checks options: one that is mistyped must not quietly be the default. */
import { DeepwrightError } from "deepwright/errors";

export function checkOptions(of: string, options: object, known: readonly string[]): void {
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw new DeepwrightError("UNKNOWN_OPTION", `${of} has no option '${key}'.`, {
        hint: `Its options are: ${known.join(", ")}.`,
      });
}

/** In milliseconds. */
export function secondsOption(name: string, seconds: number): number {
  if (typeof seconds === "number" && seconds >= 0) return seconds * 1_000;
  throw new DeepwrightError("INVALID_OPTION", `${name} must be a number of seconds, not ${String(seconds)}.`);
}
