/** Calls of AgentCore's SDK, with their failures as ours. */
import { SandboxError } from "deepwright";
import { type Vendor, VendorCalls } from "../remote/vendor-calls.ts";
import { statusOf } from "../remote/vendor-errors.ts";

/** Errors within a stream have a name and no status. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  UnrecognizedClientException: 403,
  CredentialsProviderError: 401,
  ConflictException: 409,
  InternalServerException: 500,
  ResourceNotFoundException: 404,
  ServiceQuotaExceededException: 402,
  ThrottlingException: 429,
  ValidationException: 400,
};

const AGENTCORE: Vendor = {
  vendor: "AgentCore",
  keyHint:
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to credentials of AWS that allow bedrock-agentcore:*CodeInterpreter* in this region.",
  withStatus,
};

export const agentCoreCalls = new VendorCalls(AGENTCORE, []);

/** Whether the service answered that the session does not exist. */
export function isMissing(error: unknown): boolean {
  return statusOf(withStatus(error)) === 404;
}

function withStatus(error: unknown): unknown {
  if (!(error instanceof Error) || statusOf(error) !== undefined) return error;
  if (error.message === "Region is missing")
    return new SandboxError("AgentCore needs a region. Set AWS_REGION, or pass region.", "ACCESS_DENIED");
  // The SDK's word for a connection that broke.
  if (error.name === "TimeoutError")
    return Object.assign(new Error(error.message), { code: (error as { readonly code?: unknown }).code });
  const status = STATUS_BY_NAME[error.name];
  return status === undefined ? error : Object.assign(error, { status });
}
