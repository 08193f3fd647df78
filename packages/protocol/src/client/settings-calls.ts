import { routeOf } from "../routes.ts";
import type { ExplainCall } from "../settings/host-settings.ts";
import type { AllowRule } from "../thread-work.ts";
import type { Caller, CallOptions } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { InDirectoryOf } from "./workspace-calls.ts";

/** Settings of the server's machine, for its one owner. */
export function settingsCalls(call: Caller, connection: Connection) {
  return {
    get: ({ agent, ...o }: InDirectoryOf = {}) =>
      call("settings.get", { ...o, query: { assistant_id: agent } }),
    /** Whether a path or a command would be allowed. */
    explain: (about: ExplainCall, { agent, ...o }: InDirectoryOf = {}) =>
      call("settings.explain", { ...o, query: { assistant_id: agent }, body: about }),
    forgetAllowed: (rule: AllowRule, { agent, ...o }: InDirectoryOf = {}) =>
      call("settings.forgetAllowed", { ...o, query: { assistant_id: agent }, body: rule }),
    readMemory: async (path: string, { agent, ...o }: InDirectoryOf = {}) => {
      const query = { path, assistant_id: agent };
      const response = await connection.request(routeOf("settings.readMemory"), { ...o, query });
      return { content: await response.text(), etag: response.headers.get("etag") ?? "" };
    },
    /** `etag` of null: the file must not be there yet. Throws `CHANGED` when somebody else was faster. */
    saveMemory: (path: string, content: string, etag: string | null, { agent, ...o }: InDirectoryOf = {}) =>
      call("settings.saveMemory", {
        ...o,
        query: { assistant_id: agent },
        headers: etag === null ? { "if-none-match": "*" } : { "if-match": etag },
        body: { path, content },
      }),
    proposals: ({ agent, ...o }: InDirectoryOf = {}) =>
      call("settings.proposals", { ...o, query: { assistant_id: agent } }),
    propose: ({ agent, ...o }: InDirectoryOf = {}) =>
      call("settings.propose", { ...o, query: { assistant_id: agent } }),
    webhooks: (o: CallOptions = {}) => call("settings.webhooks", o),
  };
}
