/** Failures of E2B's SDK as our errors. */
import type { Vendor } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";

/** Classes of the SDK without a status, with the matching HTTP status. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  AuthenticationError: 401,
  SandboxNotFoundError: 404,
  RateLimitError: 429,
  InvalidArgumentError: 400,
  TemplateError: 400,
  NotEnoughSpaceError: 400,
};

export const E2B: Vendor = {
  vendor: "E2B",
  keyHint: "Set E2B_API_KEY, or pass apiKey.",
  keyVariables: ["E2B_API_KEY"],
  missingMeansLost: false,
  withStatus,
};

/** Whether E2B does not know the sandbox. */
export function isGone(error: unknown): boolean {
  return isNotFound(withStatus(error));
}

/** The status is in the class of some errors, and in the text of others: `500: …`. */
function withStatus(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const said = error.name === "SandboxError" ? /^([45]\d\d): /.exec(error.message)?.[1] : undefined;
  const status = STATUS_BY_NAME[error.name] ?? (said === undefined ? undefined : Number(said));
  return status === undefined ? error : Object.assign(error, { status });
}
