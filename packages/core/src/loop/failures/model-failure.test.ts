import { describe, expect, test } from "vitest";
import { fault } from "../../testing/index.ts";
import { type FailureKind, failureOf } from "./model-failure.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

const error = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);
const caused = (message: string, cause: unknown): Error => new Error(message, { cause });

const ROWS: readonly [what: string, thrown: unknown, kind: FailureKind][] = [
  ["Anthropic: too many requests", error("429 slow down", { status: 429 }), "rate"],
  [
    "Anthropic: overloaded in the middle of a stream",
    error('{"type":"error"}', { error: { type: "error", error: { type: "overloaded_error" } } }),
    "server",
  ],
  ["Anthropic: no credit", error("Your credit balance is too low", { status: 400 }), "invalid"],
  ["Anthropic: billing", error("400", { status: 400, error: { error: { type: "billing_error" } } }), "quota"],
  ["OpenAI: out of quota", error("429 You exceeded", { status: 429, code: "insufficient_quota" }), "quota"],
  [
    "OpenAI: out of quota, in words alone",
    error("429 You exceeded your current quota, please check your plan and billing details.", {
      status: 429,
    }),
    "quota",
  ],
  ["OpenAI: rate in a stream", error("slow down", { code: "rate_limit_exceeded" }), "rate"],
  ["OpenAI: a wrong key", error("401 Incorrect API key", { status: 401, code: "invalid_api_key" }), "auth"],
  ["OpenAI: no such model", error("404", { status: 404, code: "model_not_found" }), "missing"],
  ["OpenAI: no connection", caused("Connection error.", error("x", { code: "ECONNREFUSED" })), "network"],
  ["OpenAI: time-out as LangChain says it", error("Request timed out.", { name: "TimeoutError" }), "timeout"],
  [
    "Gemini: a limit per minute, though its words speak of billing",
    error("[429] You exceeded your current quota, please check your plan and billing details.", {
      status: 429,
      errorDetails: [{ violations: [{ quotaId: "GenerateRequestsPerMinutePerProject" }] }],
    }),
    "rate",
  ],
  [
    "Gemini: a limit per day",
    error("[429] You exceeded your current quota", {
      status: 429,
      errorDetails: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProject" }] }],
    }),
    "quota",
  ],
  [
    "Gemini: a wrong key is a bad request there",
    error("[400 Bad Request] API key not valid", {
      status: 400,
      errorDetails: [{ reason: "API_KEY_INVALID" }],
    }),
    "auth",
  ],
  ["Gemini: no connection", error("Error fetching from https://x: fetch failed"), "network"],
  ["Gemini: the stream ends", error("Error reading from the stream"), "cut"],
  ["Bedrock: throttled", error("slow", { name: "ThrottlingException" }), "rate"],
  ["Bedrock: a status in its own place", error("no", { $metadata: { httpStatusCode: 503 } }), "server"],
  ["fetch: the name is not known", caused("fetch failed", error("x", { code: "ENOTFOUND" })), "network"],
  [
    "fetch: the name cannot be asked for",
    caused("fetch failed", error("", { code: "EAI_AGAIN" })),
    "network",
  ],
  ["fetch: reset", caused("fetch failed", error("read ECONNRESET", { code: "ECONNRESET" })), "network"],
  ["fetch: no headers", caused("fetch failed", error("", { code: "UND_ERR_HEADERS_TIMEOUT" })), "timeout"],
  ["fetch: the body ends", caused("terminated", error("other side closed")), "cut"],
  ["a status in a response", error("no", { response: { status: 502 } }), "server"],
  ["an abort", error("This operation was aborted", { name: "AbortError" }), "aborted"],
  ["a mistake in a program", new TypeError("x is not a function"), "unknown"],
  ["words", "no", "unknown"],
  ["nothing", undefined, "unknown"],
  ...[400, 405, 409, 413, 422].map((status): [string, unknown, FailureKind] => [
    `status ${status}`,
    fault.status(status),
    "invalid",
  ]),
  ...[401, 403].map((s): [string, unknown, FailureKind] => [`status ${s}`, fault.status(s), "auth"]),
  ...[500, 502, 503, 504, 529].map((s): [string, unknown, FailureKind] => [
    `status ${s}`,
    fault.status(s),
    "server",
  ]),
  ["status 408", fault.status(408), "timeout"],
  ["status 402", fault.status(402), "quota"],
  ["status 404", fault.status(404), "missing"],
];

test.each(ROWS)("%s", (_, thrown, kind) => {
  expect(failureOf(thrown).kind).toBe(kind);
});

test("an error that points at itself is read once", () => {
  const loop = error("odd");
  Object.assign(loop, { cause: loop, error: loop });
  expect(failureOf(loop).kind).toBe("unknown");
});

describe("when to come back", () => {
  const headers = (entries: Record<string, string>) => error("429", { status: 429, headers: entries });
  test.each<[what: string, thrown: unknown, wait: number | undefined]>([
    ["seconds", headers({ "retry-after": "12" }), 12_000],
    ["seconds with a fraction, in other letters", headers({ "Retry-After": " 0.5 " }), 500],
    ["a date", headers({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }), 30_000],
    ["a date that has passed", headers({ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }), 0],
    ["milliseconds before seconds", headers({ "retry-after": "2", "retry-after-ms": "1500" }), 1500],
    ["headers of fetch", error("429", { status: 429, headers: new Headers({ "Retry-After": "3" }) }), 3000],
    [
      "headers of a response",
      error("x", { response: { status: 503, headers: { "retry-after": "4" } } }),
      4000,
    ],
    [
      "Google's RetryInfo",
      error("429", {
        status: 429,
        errorDetails: [{ "@type": "x/QuotaFailure" }, { "@type": "x/RetryInfo", retryDelay: "34.5s" }],
      }),
      34_500,
    ],
    ["what LangChain has read", error("429", { status: 429, retryAfterMs: 250 }), 250],
    ["no word of it", headers({}), undefined],
    ["nonsense", headers({ "retry-after": "soon" }), undefined],
    ["less than nothing", headers({ "retry-after": "-5" }), undefined],
  ])("%s", (_, thrown, wait) => {
    expect(failureOf(thrown, NOW).retryAfter).toBe(wait);
  });
});
