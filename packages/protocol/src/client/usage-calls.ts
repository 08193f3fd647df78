import type { Caller, CallOptions } from "./call.ts";

export function usageCalls(call: Caller) {
  const over = ({ days, ...o }: CallOptions & { days?: number }) => ({ ...o, query: { days } });
  return {
    ofThread: (thread_id: string, o: CallOptions & { days?: number } = {}) =>
      call("usage.ofThread", { ...over(o), parameters: { thread_id } }),
    report: (o: CallOptions & { days?: number } = {}) => call("usage.report", over(o)),
  };
}
