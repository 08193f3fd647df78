/** Who asks: the token of the server, or whatever the embedder's `authenticate` says. */
import { createHash, timingSafeEqual } from "node:crypto";
import { Problem } from "./problems.ts";

/** `identity` is the owner of everything a caller makes, and in agents `runtime.serverInfo.user.identity`. */
export interface Caller {
  readonly identity: string;
  readonly [field: string]: unknown;
}

/** Undefined, or a throw: the request is refused with 401. */
export type Authenticate = (request: Request) => Promise<Caller | undefined> | Caller | undefined;

/** The one owner on a server with one token. */
export const LOCAL: Caller = { identity: "local" };

const MOST_IDENTITY = 256;

/** Compares in a time that tells nothing about how much of a guess was right. */
export function tokenAuthentication(token: string, caller: Caller = LOCAL): Authenticate {
  const expected = digest(token);
  return (request) => {
    const given = presentedToken(request.headers);
    return given !== undefined && timingSafeEqual(digest(given), expected) ? caller : undefined;
  };
}

/** From `Authorization: Bearer` or `x-api-key`; never from the address, which is logged and shared. */
export function presentedToken(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return bearer ?? (headers.get("x-api-key") || undefined);
}

export async function callerOf(authenticate: Authenticate, request: Request): Promise<Caller> {
  const caller = await Promise.resolve()
    .then(() => authenticate(request))
    .catch(() => undefined);
  if (!caller || !isIdentity(caller.identity))
    throw new Problem("UNAUTHENTICATED", "A valid token is needed.", {
      headers: { "www-authenticate": "Bearer" },
    });
  return caller;
}

function isIdentity(identity: unknown): boolean {
  return (
    typeof identity === "string" &&
    identity !== "" &&
    identity.length <= MOST_IDENTITY &&
    identity.isWellFormed() &&
    !identity.includes("\0")
  );
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
