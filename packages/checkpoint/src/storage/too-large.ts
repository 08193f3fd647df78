import { DeepwrightError } from "deepwright/errors";

export function tooLarge(mostBytes: number): DeepwrightError {
  return new DeepwrightError(
    "VALUE_TOO_LARGE",
    `What is stored here is larger than the ${mostBytes} bytes that are read at once.`,
    { hint: "Request less: leave large fields out, skip the item, or read one file at a time." },
  );
}
