/** Tells an address of the client's that a run has ended. */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isPublicAddress } from "@deepwright/sandboxes";
import { ServiceError } from "./service-error.ts";

export interface WebhookOptions {
  /** Whether addresses of this machine and of private networks may be called. Default false. */
  readonly allowPrivate?: boolean;
  /** For one try, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Milliseconds before each further try. Default 1 s, 5 s, 25 s. */
  readonly retryAfterMs?: readonly number[];
}

export interface Webhooks {
  /** Throws INVALID_REQUEST for an address that is never called. Names are looked up when they are called. */
  check(url: string): void;
  /** True when the other side took it. Tries again when it cannot be reached or says it is at fault. */
  send(url: string, body: string, signal?: AbortSignal): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = [1_000, 5_000, 25_000];

export function createWebhooks(options: WebhookOptions = {}): Webhooks {
  const { allowPrivate = false, timeoutMs = TIMEOUT_MS, retryAfterMs = RETRY_AFTER_MS } = options;
  const check = (text: string): URL => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
      throw refused("must be an http or https address");
    if (url.username !== "" || url.password !== "") throw refused("must not carry a name or password");
    const address = url.hostname.replace(/^\[|\]$/g, "");
    const isAddress = /^[\d.]+$/.test(address) || address.includes(":");
    const isLocalName = /(?:^|\.)localhost\.?$/.test(address);
    if (!allowPrivate && (isLocalName || (isAddress && !isPublicAddress(address))))
      throw refused("must be an address of the public Internet");
    return url;
  };
  return {
    check: (text) => void check(text),
    async send(text, body, signal) {
      const url = check(text);
      for (let attempt = 0; ; attempt += 1) {
        const status = await post(url, body, timeoutMs, allowPrivate, signal).catch(() => 0);
        if (status >= 200 && status < 300) return true;
        const again = status === 0 || status >= 500 || status === 429 || status === 408;
        const pause = retryAfterMs[attempt];
        if (!again || pause === undefined || signal?.aborted) return false;
        await sleep(pause, signal);
        if (signal?.aborted) return false;
      }
    },
  };
}

function refused(why: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `The webhook ${why}.`);
}

type Resolved = (error: Error | null, address: string | readonly LookupAddress[], family?: number) => void;

/** What is dialled is what was checked: the connection is given the addresses, not the name. */
function checkedLookup(allowPrivate: boolean) {
  return (host: string, wanted: { readonly all?: boolean }, done: Resolved): void => {
    lookup(host, { all: true }).then(
      (found) => {
        const allowed = allowPrivate ? found : found.filter(({ address }) => isPublicAddress(address));
        const [first] = allowed;
        if (first === undefined || allowed.length < found.length)
          done(new Error("The name leads to a private address."), []);
        else if (wanted.all) done(null, allowed);
        else done(null, first.address, first.family);
      },
      (error) => done(error, []),
    );
  };
}

/** The status; redirects are not followed, and of the answer nothing else is read. */
function post(
  url: URL,
  body: string,
  timeoutMs: number,
  allowPrivate: boolean,
  signal?: AbortSignal,
): Promise<number> {
  const limit = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      lookup: checkedLookup(allowPrivate) as never,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      agent: false,
    });
    request.on("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on("error", reject);
    request.end(body);
  });
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}
