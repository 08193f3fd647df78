/** Calls addresses of clients: once, and never one of this machine or of a private network. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { durationMs, signalAfter } from "deepwright/duration";
import { checkedAddress, checkedLookup } from "deepwright/net";
import { ServiceError } from "../service-error.ts";

export interface WebhookOptions {
  /** Allows addresses of this machine and of private networks, except link-local ones. Default false. */
  readonly allowPrivate?: boolean;
  /** For one try, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Milliseconds before each further try. Default 1 s, 5 s, 25 s, 2 min, 10 min, 1 h, 6 h. */
  readonly retryAfterMs?: readonly number[];
}

export interface Webhooks {
  /** Throws INVALID_REQUEST for an address that is never called. Names are looked up when they are called. */
  check(url: string): void;
  /**
   * The status of the answer; 0 without an answer; `refused` for a forbidden address. Never rejects, and settles within
   * its time. Redirects are not followed, and nothing else of the answer is read.
   */
  post(
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<WebhookAnswer>;
  /** For one call, in milliseconds. */
  readonly timeoutMs: number;
}

export type WebhookAnswer = number | "refused";

const TIMEOUT_MS = 10_000;

export function createWebhooks(options: WebhookOptions = {}): Webhooks {
  const { allowPrivate = false, retryAfterMs = [] } = options;
  const timeoutMs = durationMs("webhooks.timeoutMs", options.timeoutMs ?? TIMEOUT_MS, {
    unit: "milliseconds",
  });
  for (const pause of retryAfterMs)
    durationMs("webhooks.retryAfterMs", pause, { unit: "milliseconds", zero: true });
  return {
    timeoutMs,
    check(text) {
      const url = checkedAddress(text, allowPrivate);
      if ("refused" in url) throw refused(url.refused);
    },
    async post(text, body, headers, signal) {
      const url = checkedAddress(text, allowPrivate);
      if ("refused" in url) return "refused";
      const limit = signalAfter(timeoutMs);
      const ends = signal ? AbortSignal.any([signal, limit]) : limit;
      // A request that is ended tells so only if it can: a name that is being looked up cannot be.
      return Promise.race([post(url, body, headers, allowPrivate, ends).catch(() => 0), noAnswer(ends)]);
    },
  };
}

function noAnswer(ends: AbortSignal): Promise<0> {
  return new Promise((resolve) => {
    if (ends.aborted) resolve(0);
    else ends.addEventListener("abort", () => resolve(0), { once: true });
  });
}

function refused(why: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `The webhook ${why}.`);
}

function post(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      lookup: checkedLookup(allowPrivate) as never,
      signal,
      agent: false,
    });
    request.on("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on("upgrade", (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.destroy();
    });
    request.on("error", reject);
    request.on("close", () => reject(new Error("The connection was closed.")));
    request.end(body);
  });
}
