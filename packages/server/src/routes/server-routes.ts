/** Routes about the server itself. */
import { type OpenApiDocument, openApiDocument } from "@deepwright/protocol";
import type { Handlers } from "./call.ts";
import { referencePage } from "./reference-page.ts";

const VERSION = "0.1.0";

export const serverRoutes: Handlers<"server"> = {
  "server.ok": async () => ({ ok: true }),

  "server.ready": async ({ services }) => {
    await services.readiness.check();
    return { ready: true };
  },

  "server.info": async ({ services }) => ({
    version: VERSION,
    flags: {
      assistants: true,
      crons: true,
      store: services.store !== undefined,
      engine_commands: services.engineCommands,
    },
  }),

  "server.openapi": async () => ({ ...reference() }),

  "server.metrics": async ({ services: { metrics, runs, waitingRuns } }) => {
    const text = metrics.text({ active: runs.active, waiting: await waitingRuns.read() });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  },

  "server.docs": async () => referencePage(reference()),
};

let document: OpenApiDocument | undefined;

function reference(): OpenApiDocument {
  document ??= openApiDocument({ version: VERSION });
  return document;
}
