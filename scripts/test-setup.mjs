// Runs once in vitest's main process: makes what many tests share when the first of them asks for it.
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { install, PACKAGES } from "./bundle.mjs";
import { startEngine } from "./test-engine.mjs";
import { startPostgres } from "./test-postgres.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** Below the packages we depend on, so that they are found, and above nobody's sources. */
const PROGRAM = join(ROOT, "node_modules", `.deepwright-test-${process.pid}`);

export default async function setup() {
  let server;
  let engine;
  let program;
  const answers = {
    "/postgres": async () => {
      server ??= startPostgres();
      return (await server).url;
    },
    "/engine": async () => {
      engine ??= startEngine();
      return JSON.stringify((await engine).facts);
    },
    "/program": () => {
      program ??= buildProgram();
      return program;
    },
  };
  const broker = createServer(async (request, response) => {
    try {
      response.end(await answers[request.url]());
    } catch (error) {
      response.writeHead(500).end(error.message);
    }
  });
  await new Promise((done) => broker.listen(0, "127.0.0.1", done));
  process.env.TEST_BROKER = `http://127.0.0.1:${broker.address().port}`;
  return async () => {
    broker.close();
    broker.closeAllConnections();
    const started = await server?.catch(() => undefined);
    await started?.stop();
    const running = await engine?.catch(() => undefined);
    await running?.stop();
    rmSync(PROGRAM, { recursive: true, force: true });
  };
}

/** The terminal program as it is published: it starts in a third of the time the sources need. */
async function buildProgram() {
  const modules = join(PROGRAM, "node_modules");
  for (const directory of PACKAGES) await install(directory, modules, ROOT);
  return join(modules, "@deepwright", "cli", "dist", "main.js");
}
