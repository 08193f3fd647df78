/** Failures of LangSmith's SDK as our errors. */
import type { Vendor } from "../remote/vendor-calls.ts";
import { statusOf } from "../remote/vendor-errors.ts";

/** HTTP statuses by the class of the SDK's errors. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  LangSmithSandboxAuthenticationError: 401,
  LangSmithResourceNotFoundError: 404,
  LangSmithQuotaExceededError: 429,
  LangSmithResourceNameConflictError: 409,
  LangSmithResourceAlreadyExistsError: 409,
  LangSmithValidationError: 400,
  LangSmithResourceTimeoutError: 503,
  LangSmithSandboxCreationError: 503,
  LangSmithResourceCreationError: 503,
  LangSmithSandboxAPIError: 500,
};

export const LANGSMITH: Vendor = {
  vendor: "LangSmith",
  keyHint: "Set LANGSMITH_API_KEY, or pass apiKey, to a key that may do this.",
  withStatus,
};

/** Whether the service answered that the thing does not exist. */
export function isMissing(error: unknown): boolean {
  const status = statusOf(withStatus(error));
  return status === 404 || status === 410;
}

/** A refused socket tells its status in words alone. */
function withStatus(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = /\(HTTP (\d{3})\)|^HTTP (\d{3})\b/.exec(error.message);
  const status = STATUS_BY_NAME[error.name] ?? Number(code?.[1] ?? code?.[2] ?? Number.NaN);
  return Number.isNaN(status) ? error : Object.assign(error, { status });
}
