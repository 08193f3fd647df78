/** Why a request was not done: the same body on every route. */
import { z } from "zod";

/** Stable codes a program may switch on, with the status they come with. */
export const PROBLEM_STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  /** A thing with this id is there already. */
  EXISTS: 409,
  /** The thread has a run, and the strategy is `reject`, or the request needs the thread at rest. */
  THREAD_BUSY: 409,
  /** There is nothing of this id that waits for an answer. */
  NOTHING_TO_RESUME: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** The idempotency key was used with another request. */
  KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_SUPPORTED: 501,
  /** It goes down, or its database does not answer: try again. */
  UNAVAILABLE: 503,
} as const;
export type ProblemCode = keyof typeof PROBLEM_STATUS;

export const problem = z.object({
  /** One of `ProblemCode`; another server or a later version may have more. */
  code: z.string(),
  /** For people; no path of the host, no stack, no secret. */
  message: z.string(),
  hint: z.string().optional(),
  /** Where in the request, as far as it is known. */
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof problem>;
