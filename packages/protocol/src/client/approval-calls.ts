import type { Caller, CallOptions } from "./call.ts";

export function approvalCalls(call: Caller) {
  return {
    /** With `after`, the cursor of the last answer, it waits for a change, up to `wait` seconds. */
    list: ({ after, wait, ...o }: CallOptions & { after?: string; wait?: number } = {}) =>
      call("approvals.list", { ...o, query: { after, wait } }),
  };
}
