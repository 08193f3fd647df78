import type { BodyOf, Caller, CallOptions } from "./call.ts";

export function assistantCalls(call: Caller) {
  const at = (assistant_id: string, o: CallOptions) => ({ ...o, parameters: { assistant_id } });
  return {
    create: (body: BodyOf<"assistants.create">, o: CallOptions = {}) =>
      call("assistants.create", { ...o, body }),
    get: (id: string, o: CallOptions = {}) => call("assistants.get", at(id, o)),
    update: (id: string, body: BodyOf<"assistants.update">, o: CallOptions = {}) =>
      call("assistants.update", { ...at(id, o), body }),
    delete: (id: string, { deleteThreads = false, ...o }: CallOptions & { deleteThreads?: boolean } = {}) =>
      call("assistants.delete", { ...at(id, o), query: { delete_threads: deleteThreads } }),
    /** All fields: `select` is for `call`. */
    search: (body: Omit<BodyOf<"assistants.search">, "select"> = {}, o: CallOptions = {}) =>
      call("assistants.search", { ...o, body }),
    count: (body: BodyOf<"assistants.count"> = {}, o: CallOptions = {}) =>
      call("assistants.count", { ...o, body }),
    graph: (id: string, { xray, ...o }: CallOptions & { xray?: boolean | number } = {}) =>
      call("assistants.graph", { ...at(id, o), query: { xray } }),
    schemas: (id: string, o: CallOptions = {}) => call("assistants.schemas", at(id, o)),
    facts: (id: string, o: CallOptions = {}) => call("assistants.facts", at(id, o)),
    subgraphs: (
      id: string,
      { namespace, recurse, ...o }: CallOptions & { namespace?: string; recurse?: boolean } = {},
    ) =>
      namespace === undefined
        ? call("assistants.subgraphs", { ...at(id, o), query: { recurse } })
        : call("assistants.subgraph", {
            ...o,
            parameters: { assistant_id: id, namespace },
            query: { recurse },
          }),
    versions: (id: string, body: BodyOf<"assistants.versions"> = {}, o: CallOptions = {}) =>
      call("assistants.versions", { ...at(id, o), body }),
    setLatest: (id: string, version: number, o: CallOptions = {}) =>
      call("assistants.setLatest", { ...at(id, o), body: { version } }),
  };
}
