import { routeOf } from "../routes.ts";
import type { Caller, CallOptions } from "./call.ts";
import type { Connection } from "./connection.ts";

/** The files of the directory that the server works in. */
export function workspaceCalls(call: Caller, connection: Connection) {
  return {
    list: (path: string, { after, ...o }: CallOptions & { after?: string } = {}) =>
      call("workspace.list", { ...o, query: { path, after } }),
    read: async (path: string, o: CallOptions = {}) => {
      const response = await connection.request(routeOf("workspace.read"), { ...o, query: { path } });
      const content = new Uint8Array(await response.arrayBuffer());
      return { content, etag: response.headers.get("etag") ?? "" };
    },
    /** `etag` of null: the file must not be there yet. Throws `CHANGED` when somebody else was faster. */
    save: (path: string, content: string, etag: string | null, o: CallOptions = {}) =>
      call("workspace.save", {
        ...o,
        headers: etag === null ? { "if-none-match": "*" } : { "if-match": etag },
        body: { path, content },
      }),
  };
}
