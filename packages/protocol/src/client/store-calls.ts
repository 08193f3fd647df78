import { formatNamespace } from "../store.ts";
import type { BodyOf, Caller, CallOptions } from "./call.ts";

export function storeCalls(call: Caller) {
  return {
    put: (body: BodyOf<"store.putItem">, o: CallOptions = {}) => call("store.putItem", { ...o, body }),
    /** Null: there is none. */
    get: (
      namespace: readonly string[],
      key: string,
      { refreshTtl, ...o }: CallOptions & { refreshTtl?: boolean } = {},
    ) =>
      call("store.getItem", {
        ...o,
        query: { namespace: formatNamespace(namespace), key, refresh_ttl: refreshTtl },
      }),
    delete: (namespace: readonly string[], key: string, o: CallOptions = {}) =>
      call("store.deleteItem", { ...o, body: { namespace: [...namespace], key } }),
    search: (body: BodyOf<"store.searchItems">, o: CallOptions = {}) =>
      call("store.searchItems", { ...o, body }),
    namespaces: (body: BodyOf<"store.listNamespaces"> = {}, o: CallOptions = {}) =>
      call("store.listNamespaces", { ...o, body }),
  };
}
