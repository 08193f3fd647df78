/** Why a request was not done: the same body on every route. */
import { z } from "zod";

/** Stable codes a program may switch on, with the status they come with. */
export const PROBLEM_STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  QUOTA_EXCEEDED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  EXISTS: 409,
  THREAD_BUSY: 409,
  NOTHING_TO_RESUME: 409,
  NOTHING_TO_STEER: 409,
  CHANGED: 412,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_SUPPORTED: 501,
  UNAVAILABLE: 503,
} as const;
export type ProblemCode = keyof typeof PROBLEM_STATUS;

export const PROBLEM_MEANING: Readonly<Record<ProblemCode, string>> = {
  INVALID_REQUEST: "The request does not fit its schema, or asks for what clients may not do.",
  UNAUTHENTICATED: "There is no token, or not the right one.",
  FORBIDDEN: "The Host, the Origin or the namespace is not for this caller.",
  QUOTA_EXCEEDED: "The caller has as many of these as the server lets one have.",
  NOT_FOUND: "It does not exist, or it belongs to another owner.",
  METHOD_NOT_ALLOWED: "Of other servers; ours answers `NOT_FOUND`.",
  EXISTS: "A thing with this id is there already.",
  THREAD_BUSY: "The thread has a run, and the strategy is `reject`, or the request needs the thread at rest.",
  NOTHING_TO_RESUME: "Nothing of this id waits for an answer.",
  NOTHING_TO_STEER: "The thread has no run at work.",
  CHANGED: "The thing is not as `If-Match` or `If-None-Match` says: read it again.",
  TOO_LARGE:
    "The body is larger than the server takes, or the answer alone larger than it gives: ask for less.",
  UNSUPPORTED_MEDIA_TYPE: "The body is not `application/json`.",
  KEY_REUSED: "The idempotency key was used with another request.",
  RATE_LIMITED: "Too many requests, runs, streams or bytes at a time; `Retry-After` says when to ask again.",
  INTERNAL: "The server failed; its log says why.",
  NOT_SUPPORTED: "This server has no such part.",
  UNAVAILABLE:
    "The server closes, has no memory left for requests, or its database does not answer: try again.",
};

export const problem = z.object({
  code: z.string().describe("One of `ProblemCode`; another server or a later version may have more."),
  message: z.string().describe("For people; no path of the host, no stack, no secret."),
  hint: z.string().optional(),
  issues: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe("Where in the request, as far as it is known."),
});
export type Problem = z.infer<typeof problem>;
