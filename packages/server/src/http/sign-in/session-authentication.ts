import { type Authenticate, LOCAL, presentedToken } from "../authenticate.ts";
import { isOwnPage, sessionIn } from "./session-cookie.ts";
import type { SignIn } from "./sign-in.ts";

/** The token for programs, the cookie for pages of this server. A request with a token is judged by the token alone. */
export function withSessions(signIn: SignIn, byToken: Authenticate): Authenticate {
  return async (request) => {
    if (presentedToken(request.headers) !== undefined) return byToken(request);
    const secret = sessionIn(request);
    if (secret === undefined || !isOwnPage(request)) return undefined;
    return (await signIn.isSession(secret)) ? LOCAL : undefined;
  };
}
