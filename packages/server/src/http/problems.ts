/** Errors as clients see them: a stable code, a sentence, never a path of this machine, a stack or a secret. */
import { PROBLEM_STATUS, type Problem as ProblemBody, type ProblemCode } from "@deepwright/protocol";
import { DeepwrightError, type ErrorCode } from "deepwright";
import { ZodError } from "zod";
import { ServiceError } from "../runs/service-error.ts";
import { errorText } from "../runs/wire/wire-error.ts";

/** Thrown by a route to answer with an error status. */
export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly details: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly issues?: ProblemBody["issues"];
    } = {},
  ) {
    super(message);
    this.name = "Problem";
    this.status = PROBLEM_STATUS[code];
  }
}

export const notFound = (what: string): Problem => new Problem("NOT_FOUND", `There is no such ${what}.`);

export const invalid = (message: string): Problem => new Problem("INVALID_REQUEST", message);

const CODES: Partial<Record<ErrorCode, ProblemCode>> = {
  INVALID_INPUT: "INVALID_REQUEST",
  INVALID_OPTION: "INVALID_REQUEST",
  INVALID_ID: "INVALID_REQUEST",
  INVALID_FILTER: "INVALID_REQUEST",
  INVALID_NAMESPACE: "INVALID_REQUEST",
  INVALID_RESUME: "INVALID_REQUEST",
  VALUE_NOT_STORABLE: "INVALID_REQUEST",
  VALUE_TOO_LARGE: "TOO_LARGE",
  NOTHING_TO_RESUME: "NOTHING_TO_RESUME",
  THREAD_NOT_FOUND: "NOT_FOUND",
  THREAD_EXISTS: "EXISTS",
  THREAD_BUSY: "THREAD_BUSY",
  CLAIM_LOST: "THREAD_BUSY",
  NOT_SUPPORTED: "NOT_SUPPORTED",
  STORAGE_BUSY: "UNAVAILABLE",
  STORAGE_UNAVAILABLE: "UNAVAILABLE",
  STORAGE_CLOSED: "UNAVAILABLE",
  STORAGE_FULL: "UNAVAILABLE",
};

/** The error for the client. Unexpected errors become `INTERNAL`, because their messages may hold anything. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ServiceError) return new Problem(error.code, errorText(error.message));
  if (error instanceof ZodError) return invalidShape(error);
  // What LangGraph says of an update that does not fit the graph.
  if ((error as Error | null)?.name === "InvalidUpdateError")
    return invalid("The update does not fit the agent.");
  if ((error as Error | null)?.name === "AbortError")
    return new Problem("UNAVAILABLE", "The request was given up.");
  const code = error instanceof DeepwrightError ? CODES[error.code as ErrorCode] : undefined;
  if (code === "UNAVAILABLE")
    return new Problem(code, "The database is not available now.", { headers: { "retry-after": "1" } });
  if (code !== undefined) return new Problem(code, errorText((error as Error).message));
  return new Problem("INTERNAL", "The server failed; its log says why.");
}

export function problemResponse(error: unknown): Response {
  const { code, message, status, details } = problemOf(error);
  const body: ProblemBody = { code, message, ...(details.issues && { issues: details.issues }) };
  return Response.json(body, { status, headers: details.headers ?? {} });
}

const MOST_ISSUES = 16;

/** Where in the request, and what was expected; not the value, which may be a secret. */
function invalidShape(error: ZodError): Problem {
  const issues = error.issues.slice(0, MOST_ISSUES).map((issue) => ({
    path: issue.path.map(String).join(".").slice(0, 200),
    message: issue.message.slice(0, 500),
  }));
  const [first] = issues;
  const message = first
    ? [first.path, first.message].filter(Boolean).join(": ")
    : "The request is not valid.";
  return new Problem("INVALID_REQUEST", message, { issues });
}
