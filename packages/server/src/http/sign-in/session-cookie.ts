/** The cookie of a session, and which requests it may speak for. */

/**
 * Browsers send cookies to every port of a host, so the name has the port: servers beside each other do not overwrite
 * their sessions.
 */
function nameFor(request: Request): string {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? "deepwright-session" : `deepwright-session-${port}`;
}

/** The secret of the session that came with the request. */
export function sessionIn(request: Request): string | undefined {
  const name = nameFor(request);
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value && /^[\w-]{16,128}$/.test(value)) return value;
  }
  return undefined;
}

/** `maxAgeMs` of 0 deletes the cookie. */
export function sessionCookie(request: Request, secret: string, maxAgeMs: number): string {
  const isSecure =
    new URL(request.url).protocol === "https:" ||
    (request.headers.get("origin") ?? "").startsWith("https://");
  return [
    `${nameFor(request)}=${secret}`,
    "Path=/",
    "HttpOnly",
    "SameSite=Strict",
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");
}

/**
 * Whether a page of this very origin asks. `SameSite` is not enough: for browsers a page on another port of the host is
 * the same site. Requests that change something must show where they come from.
 */
export function isOwnPage(request: Request): boolean {
  const { headers, method } = request;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  if (origin !== null) return isOwnOrigin(origin, request);
  return site === "same-origin" || method === "GET" || method === "HEAD";
}

function isOwnOrigin(origin: string, request: Request): boolean {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  return origin === `http://${host}` || origin === `https://${host}`;
}
