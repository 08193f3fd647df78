/**
 * The reason why a model did not answer, read from the error that its client threw.
 *
 * Clients agree on little: some give a status, some a code, some only a sentence. A request that was too long is not
 * recognised here; `overflow.ts` knows those messages.
 */

import { ownValue } from "../../text/own-value.ts";
import { retryAfterIn } from "./retry-after.ts";

export type FailureKind =
  /** Too many requests; asking later helps. */
  | "rate"
  /** The paid quota is used up; a retry in a minute does not help. */
  | "quota"
  /** The provider fails or is overloaded. */
  | "server"
  /** No connection: refused, reset, no such host. */
  | "network"
  /** The reply broke off on the way, or cannot be read. */
  | "cut"
  | "timeout"
  /** The key was refused. */
  | "auth"
  /** The provider does not know the model. */
  | "missing"
  /** The provider refuses this request, whenever it comes. */
  | "invalid"
  | "overflow"
  | "aborted"
  | "unknown";

export interface ModelFailure {
  readonly kind: FailureKind;
  /** Status of the provider's answer, if one came. */
  readonly status?: number;
  /** Milliseconds after which the provider accepts a new request. */
  readonly retryAfter?: number;
}

/** Carried by errors that were judged before. */
export interface JudgedError {
  readonly failure: ModelFailure;
}

export function failureOf(error: unknown, now: number = Date.now()): ModelFailure {
  const links = chainOf(error);
  const judged = links.map((link) => (link as Partial<JudgedError>).failure).find(isFailure);
  if (judged !== undefined) return judged;
  const status = links.map(statusOf).find((found) => found !== undefined);
  const retryAfter = links.map((link) => retryAfterIn(link, now)).find((found) => found !== undefined);
  return {
    kind: kindOf(links, status),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function isFailure(value: unknown): value is ModelFailure {
  return typeof (value as Partial<ModelFailure> | undefined)?.kind === "string";
}

type Link = Readonly<Record<string, unknown>>;

const DEEPEST = 8;

/** An error, the errors that it wraps and the bodies of answers in them, outermost first. */
function chainOf(error: unknown): readonly Link[] {
  const links: Link[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && links.length < DEEPEST) {
    const next = waiting.shift();
    if (typeof next !== "object" || next === null || links.includes(next as Link)) continue;
    const link = next as Link;
    links.push(link);
    waiting.push(link.error, link.cause, link.response);
  }
  return links;
}

function statusOf({ status, statusCode, $metadata: metadata }: Link): number | undefined {
  const { httpStatusCode } = (metadata ?? {}) as { httpStatusCode?: unknown };
  const found = [status, statusCode, httpStatusCode].find((value) => typeof value === "number");
  return found !== undefined && (found as number) >= 100 ? (found as number) : undefined;
}

function kindOf(links: readonly Link[], status: number | undefined): FailureKind {
  if (links.some(isAbort)) return "aborted";
  const named = links.flatMap(namesIn).find((name) => Object.hasOwn(KIND_OF_NAME, name));
  if (status === undefined && links.some((link) => link instanceof SyntaxError)) return "cut";
  const words = links.map(({ message }) => (typeof message === "string" ? message : "")).join("\n");
  if (status === undefined) return KIND_OF_NAME[named ?? ""] ?? kindOfWords(words);
  const ofStatus = kindOfStatus(status);
  if (ofStatus === "rate") return isUsedUp(links, words, named) ? "quota" : "rate";
  if (ofStatus === "invalid" && named !== undefined) return ownValue(REFUSED_AS, named) ?? ofStatus;
  return ofStatus;
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401 || status === 403 || status === 407) return "auth";
  if (status === 402) return "quota";
  if (status === 404 || status === 410) return "missing";
  if (status === 408) return "timeout";
  if (status === 429) return "rate";
  if (status === 425 || status >= 500) return "server";
  return status >= 400 ? "invalid" : "unknown";
}

/** Names that say more than a status of 400. */
const REFUSED_AS: Readonly<Record<string, FailureKind>> = {
  API_KEY_INVALID: "auth",
  billing_error: "quota",
  model_not_found: "missing",
  ThrottlingException: "rate",
};

/** Codes of providers, of LangChain and of the system, in any field of an error. */
const KIND_OF_NAME: Readonly<Record<string, FailureKind>> = {
  ...REFUSED_AS,
  rate_limit_error: "rate",
  rate_limit_exceeded: "rate",
  RESOURCE_EXHAUSTED: "rate",
  insufficient_quota: "quota",
  InsufficientQuotaError: "quota",
  overloaded_error: "server",
  api_error: "server",
  server_error: "server",
  internal_server_error: "server",
  UNAVAILABLE: "server",
  INTERNAL: "server",
  timeout_error: "timeout",
  TimeoutError: "timeout",
  APIConnectionTimeoutError: "timeout",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  MODEL_AUTHENTICATION: "auth",
  not_found_error: "missing",
  MODEL_NOT_FOUND: "missing",
  MODEL_NOT_AVAILABLE: "missing",
  invalid_request_error: "invalid",
  MODEL_CUT_OFF: "cut",
  EPIPE: "cut",
  UND_ERR_SOCKET: "cut",
  ERR_STREAM_PREMATURE_CLOSE: "cut",
  ECONNRESET: "network",
  ECONNREFUSED: "network",
  ENOTFOUND: "network",
  EAI_AGAIN: "network",
  EHOSTUNREACH: "network",
  ENETUNREACH: "network",
  CERT_HAS_EXPIRED: "network",
  APIConnectionError: "network",
};

function namesIn({ code, type, name, status, lc_error_code: own, errorDetails }: Link): readonly string[] {
  const reasons = Array.isArray(errorDetails) ? errorDetails.map((one) => (one as Link | null)?.reason) : [];
  return [code, type, status, own, ...reasons, name].filter((value) => typeof value === "string");
}

const CUT_WORDS =
  /premature close|socket hang up|^terminated$|other side closed|stream (?:was )?(?:cut|ended|closed) |error reading from the stream|failed to parse stream|error parsing json response|received empty response|no chunks returned|model returned no content/im;
const NETWORK_WORDS = /connection error|fetch failed|network ?error|error fetching from|failed to fetch/i;
const TIMEOUT_WORDS = /timed? ?out/i;

function kindOfWords(words: string): FailureKind {
  if (CUT_WORDS.test(words)) return "cut";
  if (TIMEOUT_WORDS.test(words)) return "timeout";
  return NETWORK_WORDS.test(words) ? "network" : "unknown";
}

const USED_UP =
  /insufficient[_ -]?quota|exceeded your current quota, please check|usage quota|quota (?:has been )?exhausted|billing|credit balance|out of credits|per ?day/i;

function isUsedUp(links: readonly Link[], words: string, named: string | undefined): boolean {
  if (named !== undefined && KIND_OF_NAME[named] === "quota") return true;
  const details = links.map((link) => link.errorDetails).filter(Array.isArray);
  // Gemini names the exceeded limit here; its sentence names billing for all limits.
  if (details.length > 0) return /"quotaId":"[^"]*PerDay/i.test(JSON.stringify(details));
  return USED_UP.test(words);
}

const ABORTS = new Set([
  "AbortError",
  "ModelAbortError",
  "APIUserAbortError",
  "GoogleGenerativeAIAbortError",
  "ABORT_ERR",
]);

function isAbort({ name, code }: Link): boolean {
  return ABORTS.has(String(name)) || ABORTS.has(String(code));
}
