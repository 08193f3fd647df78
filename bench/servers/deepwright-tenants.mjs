/** Our server with its default limits and a tenant for each key. `notes` keeps files, `echo` repeats what it is told. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@deepwright/server";
import { createDeepAgent } from "deepwright";
import { say, scriptedModel } from "deepwright/testing";
import { graph } from "./echo.mjs";
import { sayUrl } from "./say-url.mjs";

const directory = mkdtempSync(join(tmpdir(), "deepwright-tenants-"));
const server = await serve({
  agents: { echo: graph, notes: createDeepAgent({ model: scriptedModel(() => say("done")) }) },
  port: 0,
  database: join(directory, "server.db"),
  authenticate: ({ headers }) => ({ identity: headers.get("x-api-key") }),
});
sayUrl(server.url, async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
