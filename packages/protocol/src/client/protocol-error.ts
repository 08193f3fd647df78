/** The one error of the client: the server said no, or could not be understood or reached. */
import type { ProblemCode } from "../problems.ts";

/** Codes that no server sends: there was no answer, or one that is not what the route promises. */
export type ClientCode = "UNREACHABLE" | "INVALID_ANSWER" | "STREAM_LOST";

export interface ProtocolErrorDetails {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** A `ProblemCode` of our server, a `ClientCode`, or `HTTP_<status>` of a server that gives none. */
  readonly code: ProblemCode | ClientCode | (string & {});
  /** Seconds after which another try makes sense, where the server says it. */
  readonly retryAfter?: number;
  readonly hint?: string;
  readonly cause?: unknown;
}

export class ProtocolError extends Error {
  readonly status: number;
  readonly code: ProtocolErrorDetails["code"];
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  constructor(message: string, details: ProtocolErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ProtocolError";
    this.status = details.status;
    this.code = details.code;
    this.retryAfter = details.retryAfter;
    this.hint = details.hint;
  }

  /** Whether the same request may succeed a little later. */
  get temporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

const LONGEST_MESSAGE = 1000;

/** Reads why the server refused; consumes the body. */
export async function errorOfResponse(response: Response): Promise<ProtocolError> {
  const text = await response.text().catch(() => "");
  const retryAfter = secondsOf(response.headers.get("retry-after"));
  const problem = readProblem(text);
  return new ProtocolError(
    problem.message.slice(0, LONGEST_MESSAGE) || `The server answered ${response.status}.`,
    {
      status: response.status,
      code: problem.code ?? `HTTP_${response.status}`,
      ...(problem.hint === undefined ? {} : { hint: problem.hint }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  );
}

/** Our problems, and the `{detail}`, `{message}` and `{error}` of other servers. */
function readProblem(text: string): { code?: string; message: string; hint?: string } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { message: text };
  }
  if (typeof body !== "object" || body === null) return { message: text };
  const { code, message, hint, detail, error } = body as Record<string, unknown>;
  if (typeof code === "string" && typeof message === "string")
    return { code, message, ...(typeof hint === "string" && { hint }) };
  const said = [message, detail, error].find((value) => typeof value === "string");
  return { message: (said as string | undefined) ?? text };
}

/** Seconds, or a date, as HTTP has both. */
function secondsOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
