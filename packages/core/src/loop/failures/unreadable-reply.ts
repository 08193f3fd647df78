/**
 * A reply that came but cannot be read: broken JSON, wrong types, missing fields, no end. It is treated like a reply
 * that broke off.
 */
import { failureOf, type JudgedError, type ModelFailure } from "./model-failure.ts";

const LONGEST_PROBLEM = 300;

export class UnreadableReply extends Error implements JudgedError {
  override readonly name = "UnreadableReplyError";
  readonly failure: ModelFailure = { kind: "cut" };

  constructor(problem: string, cause?: unknown) {
    const short = problem.length > LONGEST_PROBLEM ? `${problem.slice(0, LONGEST_PROBLEM)}…` : problem;
    super(`the reply cannot be read: ${short}`, cause === undefined ? undefined : { cause });
  }
}

/** An error that the provider sent in the middle of a stream, and that its client passes over. */
export class StreamedError extends Error implements JudgedError {
  override readonly name = "StreamedError";
  readonly failure: ModelFailure;
  readonly code: unknown;

  constructor(error: unknown) {
    const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown };
    super(String(message ?? "the provider sent an error"));
    this.code = code;
    const failure = failureOf({ error });
    this.failure = failure.kind === "unknown" ? { kind: "server" } : failure;
  }
}

/** For an error thrown while a reply came. An error with a known meaning stays as it is. */
export function whileReading(error: unknown): unknown {
  if (failureOf(error).kind !== "unknown") return error;
  return new UnreadableReply(error instanceof Error ? error.message : String(error), error);
}

const MERGING = /in the message chunk/;

/** For an error of a client, which may come from before its request: only mistakes in reading count. */
export function ofReading(error: unknown): unknown {
  const isMistake =
    error instanceof TypeError ||
    error instanceof SyntaxError ||
    error instanceof RangeError ||
    (error instanceof Error && MERGING.test(error.message));
  return isMistake ? whileReading(error) : error;
}
