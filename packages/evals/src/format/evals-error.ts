/** The error of evals that cannot be used as given. */
import { DeepwrightError } from "deepwright";

/** A case, suite, report or run that cannot be used as given. */
export class EvalsError extends DeepwrightError {
  constructor(message: string, hint?: string) {
    super("INVALID_OPTION", message, { hint });
  }
}
