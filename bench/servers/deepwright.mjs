/** Our server as it comes, on SQLite, but for the rate of runs one caller may begin: all of them are the bench's. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@deepwright/server";
import { graph } from "./echo.mjs";
import { sayUrl } from "./say-url.mjs";

const directory = mkdtempSync(join(tmpdir(), "deepwright-server-"));
const unlimited = { burst: 1e9, perSecond: 1e9 };
const server = await serve({
  agents: { echo: graph },
  port: 0,
  database: join(directory, "server.db"),
  token: process.env.BENCH_TOKEN,
  limits: { requests: unlimited, runs: unlimited },
});
sayUrl(server.url, async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
