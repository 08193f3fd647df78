/** Checks of every request before any route: host and origin, the caller, the rate of the caller. */
import { type Route, routes } from "@deepwright/protocol";
import type { MiddlewareHandler } from "hono";
import type { Environment } from "./app-routes.ts";
import { type Authenticate, callerOf } from "./authenticate.ts";
import { type AccessRules, checkAccess, originHeaders, preflightResponse } from "./host-and-origin.ts";
import type { RateLimit } from "./limits/rate-limit.ts";
import type { StaticPage } from "./page/static-page.ts";
import { invalid, Problem, problemResponse } from "./problems.ts";

export interface GuardOptions {
  readonly access: AccessRules;
  readonly authenticate: Authenticate;
  readonly requests: RateLimit;
  /** `/ok` and `/ready` answer everyone. */
  readonly openHealth: boolean;
  /** `/metrics` answers everyone. */
  readonly openMetrics: boolean;
  /** Its files are for everyone: they hold nothing of a caller. */
  readonly page: StaticPage | undefined;
}

const HEALTH: ReadonlySet<string> = new Set(["GET /ok", "GET /ready"]);
const METRICS = "GET /metrics";
/** Routes that are answered without a token. Their paths have no names in them. */
const OPEN: ReadonlySet<string> = new Set(
  (routes as readonly Route[]).filter(({ open }) => open).map(({ method, path }) => `${method} ${path}`),
);
/** The longest body that is read from someone unknown. */
const OPEN_BODY = 64 * 1024;

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

export function guard(options: GuardOptions): MiddlewareHandler<Environment> {
  return async (context, next) => {
    const request = context.req.raw;
    const target = targetOf(context);
    checkAddress(target);
    const page = isPage(options, request.method, context.req.path);
    const origin = checkAccess(options.access, request, target, page);
    if (request.method === "OPTIONS")
      return preflightResponse(origin, request.headers.get("access-control-request-headers"));
    if (page) {
      context.res = await (options.page as StaticPage).answer(context.req.path);
      safeHeaders(context.res, origin);
      return;
    }
    if (!isOpen(options, `${request.method} ${context.req.path}`)) {
      const caller = await allowedCaller(options, request).catch(problemResponse);
      if (caller instanceof Response) return safeHeaders(caller, origin);
      context.set("caller", caller);
    } else {
      checkShort(request);
      context.set("caller", { identity: "anyone" });
    }
    await next();
    safeHeaders(context.res, origin);
  };
}

function isPage({ page }: GuardOptions, method: string, path: string): boolean {
  return (method === "GET" || method === "HEAD") && page !== undefined && page.has(path);
}

function isOpen({ openHealth, openMetrics }: GuardOptions, route: string): boolean {
  return OPEN.has(route) || (openHealth && HEALTH.has(route)) || (openMetrics && route === METRICS);
}

function checkShort({ body, headers }: Request): void {
  const bytes = Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY);
  if (body !== null && bytes > OPEN_BODY) throw new Problem("TOO_LARGE", "The body is too large.");
}

async function allowedCaller({ authenticate, requests }: GuardOptions, request: Request) {
  const caller = await callerOf(authenticate, request);
  requests.take(caller.identity);
  return caller;
}

/** Adds security headers for browsers; headers set by a route stay. */
export function safeHeaders(response: Response, origin: string | undefined): Response {
  for (const [name, value] of Object.entries(HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value);
  if (origin !== undefined)
    for (const [name, value] of Object.entries(originHeaders(origin))) response.headers.set(name, value);
  return response;
}

/** The address as the request line has it. Undefined for a request that came through no port. */
function targetOf({ env }: { readonly env: unknown }): string | undefined {
  const { incoming } = (env ?? {}) as { readonly incoming?: { readonly url?: string } };
  return incoming?.url;
}

/** Steps upwards are resolved before routes see them: nobody honest sends any. */
function checkAddress(target = ""): void {
  const path = target.split(/[?#]/, 1)[0] ?? "";
  if (/(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)|%00|\0|\\/i.test(path)) throw invalid("The path is not valid.");
}
