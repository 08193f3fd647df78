/** Signing in to a page of the server: a one-time code becomes a session in a cookie. */
import { z } from "zod";
import { moment } from "./ids.ts";

export const signInWithCode = z.object({
  code: z.string().min(1).max(128).describe("From the link that the server or `deepwright pair` printed."),
});
export type SignInWithCode = z.infer<typeof signInWithCode>;

export const signInCode = z.object({
  code: z.string().describe("Opens one session; a link ends with `#code=` and this code."),
  expires_at: moment,
});
export type SignInCode = z.infer<typeof signInCode>;
