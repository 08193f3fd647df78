/** Identifies callers: by the token of the server, or by the embedder's `authenticate`. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigurationError } from "deepwright";
import { LOCAL_OWNER } from "../runs/tenants.ts";
import { Problem } from "./problems.ts";

/**
 * `identity` is the owner of everything a caller makes. In agents all of it is `runtime.serverInfo.user`, as JSON of at
 * most 16 KiB, which is stored with each run.
 */
export interface Caller {
  readonly identity: string;
  readonly [field: string]: unknown;
}

/** Undefined, or a throw: the request is refused with 401. */
export type Authenticate = (request: Request) => Promise<Caller | undefined> | Caller | undefined;

/** The one owner on a server with one token. */
export const LOCAL: Caller = { identity: LOCAL_OWNER };

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

/**
 * An embedder's `authenticate`, none of whose callers is `local`: that one has no others to be kept from, so its agents
 * keep things where those of other callers could be. `onError` hears of the first.
 */
export function tellingApart(authenticate: Authenticate, onError: (error: unknown) => void): Authenticate {
  let told = false;
  return async (request) => {
    const caller = await authenticate(request);
    if (caller?.identity !== LOCAL_OWNER) return caller;
    if (!told)
      onError(
        new ConfigurationError(
          "INVALID_OPTION",
          `authenticate returned the identity '${LOCAL_OWNER}', the owner of a server with one token: the caller is refused.`,
          { hint: `Return another identity, such as 'user:${LOCAL_OWNER}'.` },
        ),
      );
    told = true;
    throw new Problem("FORBIDDEN", `The identity '${LOCAL_OWNER}' is the server's own and no caller's.`);
  };
}

export async function callerOf(authenticate: Authenticate, request: Request): Promise<Caller> {
  const caller = await Promise.resolve()
    .then(() => authenticate(request))
    .catch((error) => {
      if (error instanceof Problem) throw error;
      return undefined;
    });
  if (!caller || !isIdentity(caller.identity))
    throw new Problem("UNAUTHENTICATED", "A valid token is needed.", {
      headers: { "www-authenticate": "Bearer" },
    });
  return caller;
}

const MOST_USER = 16 * 1024;

/** The part of the caller that is stored with its runs. Throws for values that cannot be stored: a bug of the embedder. */
export function userOf({ identity: _, ...fields }: Caller): Readonly<Record<string, unknown>> | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  let json: string;
  try {
    json = JSON.stringify(fields);
  } catch (error) {
    throw new Error("What authenticate returned is not JSON.", { cause: error });
  }
  if (Buffer.byteLength(json) > MOST_USER)
    throw new Error(
      `authenticate returned ${Buffer.byteLength(json)} bytes of JSON; ${MOST_USER} are kept with a run. Return less.`,
    );
  return JSON.parse(json);
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
