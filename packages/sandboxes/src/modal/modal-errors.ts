/** Failures of Modal's SDK as our errors. */
import type { Vendor } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";

/** Classes of the SDK without a status, with the matching HTTP status. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  NotFoundError: 404,
  ResourceExhaustedError: 429,
  InvalidError: 400,
};

/** The SDK has no class for missing credentials and reports them before any request is made. */
const NO_CREDENTIALS = /missing credentials|credentials cannot both|must all be configured/i;

export const MODAL: Vendor = {
  vendor: "Modal",
  keyHint:
    "Set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, run 'modal token new', or pass tokenId and tokenSecret.",
  keyVariables: [
    "MODAL_TOKEN_SECRET",
    "MODAL_TOKEN_ID",
    "MODAL_OAUTH_REFRESH_TOKEN",
    "MODAL_OAUTH_CLIENT_SECRET",
  ],
  missingMeansLost: false,
  withStatus,
};

/** Whether Modal does not know the sandbox, or it has ended. */
export function isGone(error: unknown): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown };
  return isNotFound(withStatus(error)) || name === "ConflictError" || name === "ClientClosedError";
}

function withStatus(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const status = NO_CREDENTIALS.test(error.message) ? 401 : STATUS_BY_NAME[error.name];
  return status === undefined ? error : Object.assign(error, { status });
}
