/** LangGraph's development server on a free port, its files in a directory that is removed. Says its URL; ends with its input. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sayUrl } from "./say-url.mjs";

process.env.LOG_LEVEL ??= "error";
// Schemas are read from TypeScript sources; in this one of JavaScript it would look for ten seconds and fail.
process.env.LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS ??= "1";
const { startServer } = await import("@langchain/langgraph-api/server");
const directory = mkdtempSync(join(tmpdir(), "langgraph-api-"));
const { host, cleanup } = await startServer({
  port: 0,
  host: "127.0.0.1",
  nWorkers: 10,
  cwd: directory,
  graphs: { echo: `${fileURLToPath(new URL("./echo.mjs", import.meta.url))}:graph` },
});
sayUrl(`http://${host}`, async () => {
  await cleanup();
  rmSync(directory, { recursive: true, force: true });
});
