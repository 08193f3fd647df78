import { routeOf } from "../routes.ts";
import type { Caller, CallOptions } from "./call.ts";
import type { Connection } from "./connection.ts";

/** `agent`: an agent or assistant whose directory is meant. Absent: that of the first agent. */
export type InDirectoryOf = CallOptions & { readonly agent?: string };

/** The files of the directory that the server works in. */
export function workspaceCalls(call: Caller, connection: Connection) {
  return {
    list: (path: string, { after, agent, ...o }: InDirectoryOf & { after?: string } = {}) =>
      call("workspace.list", { ...o, query: { path, after, assistant_id: agent } }),
    read: async (path: string, { agent, ...o }: InDirectoryOf = {}) => {
      const query = { path, assistant_id: agent };
      const response = await connection.request(routeOf("workspace.read"), { ...o, query });
      const content = new Uint8Array(await response.arrayBuffer());
      return { content, etag: response.headers.get("etag") ?? "" };
    },
    /** `etag` of null: the file must not be there yet. Throws `CHANGED` when somebody else was faster. */
    save: (path: string, content: string, etag: string | null, { agent, ...o }: InDirectoryOf = {}) =>
      call("workspace.save", {
        ...o,
        query: { assistant_id: agent },
        headers: etag === null ? { "if-none-match": "*" } : { "if-match": etag },
        body: { path, content },
      }),
  };
}
