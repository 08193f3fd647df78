/** Asks the model again after failures that may pass, and stops waiting for a model that sends nothing. */
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "../check-options.ts";
import { isContextOverflow } from "../context/compaction/overflow.ts";
import { checkDurations } from "../duration.ts";
import { ConfigurationError } from "../errors.ts";
import type { Stages, WithStages } from "../loop/contract/stages.ts";
import { failureOf, type ModelFailure } from "../loop/failures/model-failure.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { askWithRetries, type ModelRetry, type RetryPolicy } from "../loop/model/model-retry.ts";

/** Times are in seconds. null means absent. */
export interface ModelRetryMiddlewareOptions {
  /** How often one call is made at most, the first time included; default 5. 1: never again. */
  readonly maxAttempts?: number | null;
  /**
   * The longest single wait; default 60. If a provider asks for a longer one, the request is not repeated, and the
   * error names the time.
   */
  readonly maxWait?: number | null;
  /** The wait before the second attempt, at most; default 0.5. It doubles each time. */
  readonly firstWait?: number | null;
  /** How long nothing may come from the model; default 300. A reply that is not streamed comes in one piece. */
  readonly idleTimeout?: number | null;
  /** How long the first piece of a streamed reply may take; default: `idleTimeout`. */
  readonly connectTimeout?: number | null;
  /** Whether waits are random, so that callers do not come back all at once; default true. */
  readonly jitter?: boolean | null;
  /** Called before each wait. */
  readonly onRetry?: ((retry: ModelRetry) => void) | null;
}

export type ModelRetryMiddleware = AgentMiddleware & WithStages;

/** Errors of the request, the key or the name of the model are thrown at once. */
export function createModelRetryMiddleware(given?: ModelRetryMiddlewareOptions | null): ModelRetryMiddleware {
  const options = given ?? {};
  checkOptions(options);
  const policy: RetryPolicy = {
    maxAttempts: options.maxAttempts ?? 5,
    maxWait: 1000 * (options.maxWait ?? 60),
    firstWait: 1000 * (options.firstWait ?? 0.5),
    idle: 1000 * (options.idleTimeout ?? 300),
    connect: options.connectTimeout == null ? undefined : 1000 * options.connectTimeout,
    jitter: options.jitter ?? true,
    onRetry: options.onRetry ?? undefined,
    classify: modelFailure,
  };
  const stages: Stages = { call: (outgoing, next, task) => askWithRetries(outgoing, next, task, policy) };
  return builtInMiddleware({ name: "ModelRetryMiddleware", stages });
}

/** The reason why a model did not answer, read from the error of its client. */
export function modelFailure(error: unknown): ModelFailure {
  const failure = failureOf(error);
  return isContextOverflow(error) ? { ...failure, kind: "overflow" } : failure;
}

const OPTION_NAMES = [
  "maxAttempts",
  "maxWait",
  "firstWait",
  "idleTimeout",
  "connectTimeout",
  "jitter",
  "onRetry",
];

function checkOptions(options: ModelRetryMiddlewareOptions): void {
  checkNames("createModelRetryMiddleware", options, OPTION_NAMES);
  const { maxAttempts, maxWait, firstWait, idleTimeout, connectTimeout, jitter, onRetry } = options;
  checkKind("boolean", { jitter });
  checkKind("function", { onRetry });
  checkDurations({ unit: "seconds", unlimited: true, zero: true }, { maxWait });
  checkDurations({ unit: "seconds", zero: true }, { firstWait });
  checkDurations({ unit: "seconds", unlimited: true }, { idleTimeout, connectTimeout });
  if (maxAttempts != null && !(Number.isInteger(maxAttempts) && maxAttempts >= 1))
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The option 'maxAttempts' must be a whole number from 1 on, not ${String(maxAttempts)}.`,
    );
}
