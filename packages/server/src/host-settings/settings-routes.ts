/** Settings of the machine, for its one owner; servers with several callers have none. */
import { notFound, Problem } from "../http/problems.ts";
import type { Handlers } from "../routes/call.ts";
import { readFileOf, saveFileOf } from "../routes/file-of-backend.ts";
import type { Services } from "../routes/services.ts";
import type { SettingsOfHost } from "./host-settings.ts";

const MOST_WEBHOOKS = 50;

export const settingsRoutes: Handlers<"settings"> = {
  "settings.get": async ({ services }) => settingsOf(services).facts(),

  "settings.explain": async ({ services, body: { path, operation = "read", command = "" } }) =>
    path === undefined
      ? settingsOf(services).explainCommand(command)
      : settingsOf(services).explainPath(path, operation),

  "settings.forgetAllowed": async ({ services, body: { tool, prefix } }) => {
    const isForgotten = await settingsOf(services).forgetAllowed?.({ tool, ...(prefix && { prefix }) });
    if (!isForgotten) throw notFound("permission");
    return undefined;
  },

  "settings.readMemory": async (call) => {
    const { path } = call.query;
    return readFileOf(call, settingsOf(call.services).memory, path);
  },

  "settings.saveMemory": async (call) => saveFileOf(call, settingsOf(call.services).memory, call.body),

  "settings.proposals": async ({ services }) => {
    settingsOf(services);
    return services.reviews.last;
  },

  "settings.propose": async ({ services }) => {
    settingsOf(services);
    return services.reviews.begin();
  },

  "settings.webhooks": async ({ owner, services }) => {
    const newest = await services.records.hooks.newest(owner, MOST_WEBHOOKS);
    return {
      webhooks: newest.map(({ runId, url, ...hook }) => ({
        run_id: runId,
        host: URL.canParse(url) ? new URL(url).host : "",
        ...hook,
      })),
    };
  },
};

function settingsOf({ settings, tenants }: Pick<Services, "settings" | "tenants">): SettingsOfHost {
  if (settings && !tenants) return settings;
  throw new Problem("NOT_SUPPORTED", "This server shows no settings of its machine.");
}
