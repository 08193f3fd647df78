/** Failures that say nothing about harness or model: the provider, the network or the machine was not there. */

const CODES: ReadonlySet<string> = new Set([
  "MODEL_NOT_AVAILABLE",
  "MODEL_RATE_LIMIT",
  "MODEL_QUOTA",
  "MODEL_UNAVAILABLE",
  "MODEL_TIMEOUT",
  "MODEL_AUTH",
  "MODEL_AUTHENTICATION",
  "SANDBOX_LOST",
  "SANDBOX_UNAVAILABLE",
  "SETUP_FAILED",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
]);
const STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);
const DEEPEST_CAUSE = 5;

/** The reason in words; undefined for an error of the agent itself. */
export function infrastructureReason(error: unknown): string | undefined {
  let current = error as {
    code?: unknown;
    lc_error_code?: unknown;
    status?: unknown;
    cause?: unknown;
    message?: string;
  };
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof current === "object" && current !== null; depth += 1) {
    const { code, lc_error_code: other, status, message } = current;
    const hasCode = [code, other].some((each) => typeof each === "string" && CODES.has(each));
    const hasStatus = typeof status === "number" && (status >= 500 || STATUSES.has(status));
    if (hasCode || hasStatus || message === "Connection error." || message === "fetch failed")
      return error instanceof Error ? error.message : String(error);
    current = current.cause as typeof current;
  }
  return undefined;
}
