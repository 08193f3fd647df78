/** Routes about the server itself. */
import { type OpenApiDocument, openApiDocument } from "@deepwright/protocol";
import type { Handlers } from "./call.ts";

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

  "server.openapi": async () => {
    document ??= openApiDocument({ version: VERSION });
    return { ...document };
  },
};

let document: OpenApiDocument | undefined;
