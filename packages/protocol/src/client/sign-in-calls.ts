import type { Caller, CallOptions } from "./call.ts";

/** For pages that the server hands out itself: the browser keeps the session in a cookie. */
export function signInCalls(call: Caller) {
  return {
    withCode: (code: string, o: CallOptions = {}) => call("signIn.withCode", { ...o, body: { code } }),
    out: (o: CallOptions = {}) => call("signIn.out", o),
    createCode: (o: CallOptions = {}) => call("signIn.createCode", o),
  };
}
