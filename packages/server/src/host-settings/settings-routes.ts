/** Settings of the machine, for its one owner; servers with several callers have none. */
import { notFound, Problem } from "../http/problems.ts";
import { agentNamed } from "../routes/assistant-routes.ts";
import type { Call, Handlers } from "../routes/call.ts";
import { readFileOf, saveFileOf } from "../routes/file-of-backend.ts";
import type { SettingsOfHost } from "./host-settings.ts";
import type { MemoryReviews } from "./memory-reviews.ts";

const MOST_WEBHOOKS = 50;

export const settingsRoutes: Handlers<"settings"> = {
  "settings.get": async (call) => (await settingsOf(call)).facts(),

  "settings.explain": async (call) => {
    const { path, operation = "read", command = "" } = call.body;
    const settings = await settingsOf(call);
    return path === undefined ? settings.explainCommand(command) : settings.explainPath(path, operation);
  },

  "settings.forgetAllowed": async (call) => {
    const { tool, prefix } = call.body;
    const settings = await settingsOf(call);
    const isForgotten = await settings.forgetAllowed?.({ tool, ...(prefix && { prefix }) });
    if (!isForgotten) throw notFound("permission");
    return undefined;
  },

  "settings.readMemory": async (call) => readFileOf(call, (await settingsOf(call)).memory, call.query.path),

  "settings.saveMemory": async (call) => saveFileOf(call, (await settingsOf(call)).memory, call.body),

  "settings.proposals": async (call) => (await reviewsOf(call)).last,

  "settings.propose": async (call) => (await reviewsOf(call)).begin(),

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

type Asked = Pick<Call, "owner" | "services"> & {
  readonly query: { readonly assistant_id?: string | undefined };
};

async function settingsOf(call: Asked): Promise<SettingsOfHost> {
  const { settings, tenants } = call.services;
  const found = tenants ? undefined : settings(await agentNamed(call));
  if (found) return found;
  throw new Problem("NOT_SUPPORTED", "This server shows no settings of its machine.");
}

async function reviewsOf(call: Asked): Promise<MemoryReviews> {
  await settingsOf(call);
  return call.services.reviews(await agentNamed(call));
}
