/**
 * Host names the server answers to, and origins whose pages may use it.
 *
 * A page elsewhere that points its own name at this machine sends that name as Host; a page that calls this machine
 * directly sends its own Origin. Both are refused before anything else is looked at.
 */
import { invalid, Problem } from "./problems.ts";

export interface AccessRules {
  /** Names without a port, lower case; `*` for any. */
  readonly hosts: ReadonlySet<string>;
  /** Whole origins such as `https://app.example.com`. */
  readonly origins: ReadonlySet<string>;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function accessRules(options: {
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}): AccessRules {
  const hosts = [...LOOPBACK, ...(options.allowedHosts ?? [])].map((host) => nameOf(host.toLowerCase()));
  return { hosts: new Set(hosts), origins: new Set((options.allowedOrigins ?? []).map(originOf)) };
}

/**
 * Returns the origin that may read the answer, if a page of another one asks. `target` is the address as the request line
 * has it, which only a port knows. A file of the page (`isPage`) may be opened by a link from anywhere: it is the same for
 * everyone, and cannot be framed.
 */
export function checkAccess(
  rules: AccessRules,
  request: Request,
  target = "/",
  isPage = false,
): string | undefined {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  if (!isHost(host)) throw invalid("The Host header is not valid.");
  if (!target.startsWith("/") && !isAddressOf(host, target))
    throw invalid("The address names another host than the Host header.");
  if (!rules.hosts.has("*") && !rules.hosts.has(nameOf(host)))
    throw new Problem("FORBIDDEN", "The server does not answer to this Host.");
  const origin = request.headers.get("origin");
  if (origin === null) {
    // A page that shows or sends something without a script has no Origin, but browsers say so.
    const isLink = isPage && request.headers.get("sec-fetch-mode") === "navigate";
    if (request.headers.get("sec-fetch-site") === "cross-site" && !isLink) throw refusedOrigin();
    return undefined;
  }
  if (rules.origins.has(origin)) return origin;
  if (origin === `http://${host}` || origin === `https://${host}`) return undefined;
  throw refusedOrigin();
}

const ALLOWED_HEADERS = [
  ...["authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id"],
  ...["mcp-protocol-version", "mcp-session-id", "prefer", "x-api-key"],
];
const SHOWN_HEADERS =
  "content-location, etag, location, mcp-session-id, retry-after, x-pagination-next, x-pagination-total, x-stream-end";

/** For the one origin, never for all; no cookies are used, so none are allowed. */
export function originHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": SHOWN_HEADERS,
    vary: "Origin",
  };
}

/** `requested` is what the browser asks for. Pages that may use the server may send headers of their own, as Studio does. */
export function preflightResponse(origin: string | undefined, requested: string | null): Response {
  if (origin === undefined) return new Response(null, { status: 204 });
  return new Response(null, {
    status: 204,
    headers: {
      ...originHeaders(origin),
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      vary: "Origin, Access-Control-Request-Headers",
      "access-control-allow-headers": allowedHeaders(requested ?? "").join(", "),
      "access-control-max-age": "600",
    },
  });
}

const MOST_HEADERS = 50;

function allowedHeaders(requested: string): readonly string[] {
  const names = requested.split(",").map((name) => name.trim().toLowerCase());
  const valid = names.filter((name) => /^[a-z0-9-]{1,64}$/.test(name)).slice(0, MOST_HEADERS);
  return [...new Set([...ALLOWED_HEADERS, ...valid])];
}

function refusedOrigin(): Problem {
  return new Problem("FORBIDDEN", "Pages of this origin may not use the server.");
}

const nameOf = (host: string): string => host.replace(/:\d+$/, "");

const isHost = (host: string): boolean => /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(host);

/** A whole address (`http://host/path`), as clients send it to a proxy. A port that its scheme implies may be left out. */
function isAddressOf(host: string, address: string): boolean {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { protocol, host: named } = new URL(address);
  return named === new URL(`${protocol}//${host}`).host;
}

function originOf(origin: string): string {
  const parsed = URL.canParse(origin) ? new URL(origin).origin : "null";
  if (parsed === "null" || parsed !== origin.replace(/\/$/, "").toLowerCase())
    throw new TypeError(`An allowed origin is a scheme, a host and perhaps a port, got '${origin}'.`);
  return parsed;
}
