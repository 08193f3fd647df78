/** Asks a model until it answers, as often and as fast as it makes sense. */
import type { AIMessage } from "@langchain/core/messages";
import type { Ask, Outgoing, StageTask } from "../contract/stages.ts";
import { ModelError } from "../failures/model-error.ts";
import { type FailureKind, failureOf, type ModelFailure } from "../failures/model-failure.ts";
import { modelLabel, poolOf } from "../providers/model-source.ts";
import { type AttemptTimes, askOnce } from "./model-attempt.ts";
import { Pauses, sleep } from "./model-pause.ts";

/** A model is about to be asked again. */
export interface ModelRetry {
  readonly model: string;
  /** The attempt that failed; the first is 1. */
  readonly attempt: number;
  readonly failure: ModelFailure;
  /** Milliseconds until the next one. */
  readonly wait: number;
  readonly error: unknown;
}

export interface RetryPolicy extends AttemptTimes {
  readonly maxAttempts: number;
  /** Milliseconds; no single wait is longer. */
  readonly maxWait: number;
  /** Milliseconds before the second attempt, at most; doubled each time. */
  readonly firstWait: number;
  /** Waits differ from caller to caller, so that they do not all come back at once. */
  readonly jitter: boolean;
  readonly onRetry: ((retry: ModelRetry) => void) | undefined;
  readonly classify: (error: unknown) => ModelFailure;
}

/** Asking again may help. */
const PASSING: ReadonlySet<FailureKind> = new Set(["rate", "server", "network", "cut", "timeout"]);
/** Failures that are not wrapped in a ModelError: other code handles them. */
const UNTOUCHED: ReadonlySet<FailureKind> = new Set(["overflow", "aborted", "unknown"]);

/** For agents without the retry middleware: only a reply that broke off is asked for again, without a time limit. */
export const CUT_ONLY: RetryPolicy = {
  maxAttempts: 3,
  maxWait: 1000,
  firstWait: 50,
  idle: Number.POSITIVE_INFINITY,
  connect: undefined,
  jitter: false,
  onRetry: undefined,
  classify: (error) => {
    const { kind } = failureOf(error);
    return { kind: kind === "cut" || kind === "network" ? "cut" : "unknown" };
  },
};

/** Pauses of the whole process. */
const pauses = new Pauses();

export async function askWithRetries(
  outgoing: Outgoing,
  next: Ask,
  { signal }: Pick<StageTask, "signal">,
  policy: RetryPolicy,
): Promise<AIMessage> {
  for (let attempt = 1; ; attempt += 1) {
    const left = pauses.left(poolOf(outgoing.model));
    if (left > 0) await sleep(spread(Math.min(left, policy.maxWait), policy), signal);
    try {
      return await askOnce(outgoing, next, signal, policy);
    } catch (error) {
      if (signal?.aborted) throw error;
      const wait = waitAfter(outgoing, attempt, error, policy);
      await sleep(wait, signal);
    }
  }
}

/** Throws where asking again makes no sense. */
function waitAfter(outgoing: Outgoing, attempt: number, error: unknown, policy: RetryPolicy): number {
  const failure = policy.classify(error);
  if (UNTOUCHED.has(failure.kind)) throw error;
  const model = modelLabel(outgoing.model);
  const { retryAfter } = failure;
  const isTooLong = retryAfter !== undefined && retryAfter > policy.maxWait;
  if (!PASSING.has(failure.kind) || isTooLong || attempt >= policy.maxAttempts)
    throw new ModelError({ model, failure, attempts: attempt, cause: error });
  const wait =
    retryAfter === undefined
      ? backoff(attempt, policy)
      : Math.max(retryAfter, Math.min(spread(retryAfter, policy), policy.maxWait));
  if (retryAfter !== undefined || failure.kind === "rate")
    pauses.set(poolOf(outgoing.model), retryAfter ?? wait);
  policy.onRetry?.({ model, attempt, failure, wait, error });
  return wait;
}

function backoff(attempt: number, { firstWait, maxWait, jitter }: RetryPolicy): number {
  const most = Math.min(maxWait, firstWait * 2 ** (attempt - 1));
  return jitter ? Math.random() * most : most;
}

const LONGEST_SPREAD = 5000;

/** The common wait plus a random part, different for each caller. */
function spread(wait: number, { jitter }: RetryPolicy): number {
  return jitter ? wait + Math.random() * Math.min(wait / 2, LONGEST_SPREAD) : wait;
}
