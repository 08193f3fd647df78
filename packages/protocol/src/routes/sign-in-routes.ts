import { signInCode, signInWithCode } from "../sign-in.ts";
import type { Route } from "./route.ts";

export const signInRoutes = [
  {
    name: "signIn.withCode",
    method: "POST",
    path: "/sign-in",
    summary: "Uses up a one-time code and sets the cookie of a session.",
    body: signInWithCode,
    answer: "nothing",
    problems: ["NOT_SUPPORTED"],
    open: true,
    standard: false,
  },
  {
    name: "signIn.out",
    method: "DELETE",
    path: "/sign-in",
    summary: "Ends the session of the cookie.",
    answer: "nothing",
    standard: false,
  },
  {
    name: "signIn.createCode",
    method: "POST",
    path: "/sign-in/codes",
    summary: "Makes a one-time code for another browser of the same caller.",
    answer: signInCode,
    problems: ["NOT_SUPPORTED"],
    standard: false,
  },
] as const satisfies readonly Route[];
