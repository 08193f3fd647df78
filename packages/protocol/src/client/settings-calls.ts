import { routeOf } from "../routes.ts";
import type { ExplainCall } from "../settings/host-settings.ts";
import type { AllowRule } from "../thread-work.ts";
import type { Caller, CallOptions } from "./call.ts";
import type { Connection } from "./connection.ts";

/** Settings of the server's machine, for its one owner. */
export function settingsCalls(call: Caller, connection: Connection) {
  return {
    get: (o: CallOptions = {}) => call("settings.get", o),
    /** Whether a path or a command would be allowed. */
    explain: (about: ExplainCall, o: CallOptions = {}) => call("settings.explain", { ...o, body: about }),
    forgetAllowed: (rule: AllowRule, o: CallOptions = {}) =>
      call("settings.forgetAllowed", { ...o, body: rule }),
    readMemory: async (path: string, o: CallOptions = {}) => {
      const response = await connection.request(routeOf("settings.readMemory"), { ...o, query: { path } });
      return { content: await response.text(), etag: response.headers.get("etag") ?? "" };
    },
    /** `etag` of null: the file must not be there yet. Throws `CHANGED` when somebody else was faster. */
    saveMemory: (path: string, content: string, etag: string | null, o: CallOptions = {}) =>
      call("settings.saveMemory", {
        ...o,
        headers: etag === null ? { "if-none-match": "*" } : { "if-match": etag },
        body: { path, content },
      }),
    proposals: (o: CallOptions = {}) => call("settings.proposals", o),
    propose: (o: CallOptions = {}) => call("settings.propose", o),
    webhooks: (o: CallOptions = {}) => call("settings.webhooks", o),
  };
}
