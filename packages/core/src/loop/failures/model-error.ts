/**
 * The error of a model that did not answer, for the caller: the reason, the number of attempts, and when to try again.
 */
import { DeepwrightError, type ErrorCode } from "../../errors.ts";
import { withoutSecrets } from "../../secrets.ts";
import type { FailureKind, JudgedError, ModelFailure } from "./model-failure.ts";

export interface ModelErrorFacts {
  readonly model: string;
  readonly failure: ModelFailure;
  /** How often the model was asked. */
  readonly attempts: number;
  readonly cause: unknown;
  /** Replaces the default text for the kind of failure. */
  readonly words?: string;
}

/** The thread is as it was before the call: continuing it repeats this call and nothing else. */
export class ModelError extends DeepwrightError implements JudgedError {
  readonly failure: ModelFailure;
  /** Model, as its client names itself. */
  readonly model: string;
  readonly attempts: number;
  /** The HTTP status, if an answer came. */
  readonly status: number | undefined;
  /** The time at which the provider accepts a new request, if it named one. */
  readonly retryAt: Date | undefined;

  constructor({ model, failure, attempts, cause, words }: ModelErrorFacts) {
    const retryAt = failure.retryAfter === undefined ? undefined : new Date(Date.now() + failure.retryAfter);
    const { code, says, hint } = KINDS[failure.kind] ?? UNKNOWN;
    const status = failure.status === undefined ? "" : ` (HTTP ${failure.status})`;
    const often = attempts > 1 ? ` ${attempts} times` : "";
    const later = retryAt === undefined ? "" : ` It wants to be asked again at ${retryAt.toISOString()}.`;
    super(code, `${words ?? `The model '${model}' ${says}${often}${status}`}: ${reason(cause)}${later}`, {
      hint,
      cause,
    });
    this.name = "ModelError";
    this.failure = failure;
    this.model = model;
    this.attempts = attempts;
    this.status = failure.status;
    this.retryAt = retryAt;
  }
}

interface KindWords {
  readonly code: ErrorCode;
  readonly says: string;
  readonly hint: string;
}

const RESUME = "The thread is intact: run it again to continue.";

const UNKNOWN: KindWords = { code: "MODEL_UNAVAILABLE", says: "did not answer", hint: RESUME };

const KINDS: Partial<Readonly<Record<FailureKind, KindWords>>> = {
  rate: { code: "MODEL_RATE_LIMIT", says: "had too many requests", hint: RESUME },
  quota: {
    code: "MODEL_QUOTA",
    says: "has no quota left",
    hint: `Raise the limit at the provider or use another model. ${RESUME}`,
  },
  server: { code: "MODEL_UNAVAILABLE", says: "failed", hint: RESUME },
  network: { code: "MODEL_UNAVAILABLE", says: "could not be reached", hint: RESUME },
  cut: { code: "MODEL_CUT_OFF", says: "broke off its reply, or sent one that cannot be read", hint: RESUME },
  timeout: { code: "MODEL_TIMEOUT", says: "did not answer in time", hint: RESUME },
  auth: { code: "MODEL_AUTH", says: "refused the key", hint: `Check the key of the provider. ${RESUME}` },
  missing: {
    code: "MODEL_NOT_AVAILABLE",
    says: "is not known to its provider",
    hint: `Check the name of the model and the address of the server. ${RESUME}`,
  },
  invalid: {
    code: "MODEL_REFUSED_REQUEST",
    says: "refused the request",
    hint: "A retry would not help: change the request, its settings or the model.",
  },
};

const LONGEST_REASON = 500;

function reason(cause: unknown): string {
  const words = cause instanceof Error ? cause.message || cause.name : String(cause);
  const short = withoutSecrets(words)
    .replace(/\s*\n+\s*Troubleshooting URL:[^\n]*\n*/g, "")
    .trim();
  const cut = short.length > LONGEST_REASON ? `${short.slice(0, LONGEST_REASON)}…` : short;
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`;
}
