/** Sessions of browsers. */
import { Problem } from "../http/problems.ts";
import { sessionCookie, sessionIn } from "../http/sign-in/session-cookie.ts";
import { SESSION_MS, type SignIn } from "../http/sign-in/sign-in.ts";
import type { Handlers } from "./call.ts";
import type { Services } from "./services.ts";

export const signInRoutes: Handlers<"signIn"> = {
  "signIn.withCode": async ({ request, body, services }) => {
    const secret = await signInOf(services).enter(body.code);
    return answerWith(sessionCookie(request, secret, SESSION_MS));
  },

  "signIn.out": async ({ request, services }) => {
    const secret = sessionIn(request);
    if (secret !== undefined) await services.signIn?.leave(secret);
    return answerWith(sessionCookie(request, "", 0));
  },

  "signIn.createCode": async ({ services }) => signInOf(services).newCode(),
};

function signInOf({ signIn }: Services): SignIn {
  if (signIn) return signIn;
  throw new Problem("NOT_SUPPORTED", "This server has a sign-in of its own.");
}

function answerWith(cookie: string): Response {
  return new Response(null, { status: 204, headers: { "set-cookie": cookie } });
}
