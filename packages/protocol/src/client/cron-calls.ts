import type { BodyOf, Caller, CallOptions } from "./call.ts";

/** A thread of null: each run has one of its own. */
export function cronCalls(call: Caller) {
  const at = (cron_id: string, o: CallOptions) => ({ ...o, parameters: { cron_id } });
  return {
    create: (threadId: string | null, body: BodyOf<"crons.create">, o: CallOptions = {}) =>
      threadId === null
        ? call("crons.create", { ...o, body })
        : call("crons.createForThread", { ...o, parameters: { thread_id: threadId }, body }),
    update: (id: string, body: BodyOf<"crons.update">, o: CallOptions = {}) =>
      call("crons.update", { ...at(id, o), body }),
    delete: (id: string, o: CallOptions = {}) => call("crons.delete", at(id, o)),
    search: (body: Omit<BodyOf<"crons.search">, "select"> = {}, o: CallOptions = {}) =>
      call("crons.search", { ...o, body }),
    count: (body: BodyOf<"crons.count"> = {}, o: CallOptions = {}) => call("crons.count", { ...o, body }),
  };
}
