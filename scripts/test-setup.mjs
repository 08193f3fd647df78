// Runs once in vitest's main process: makes what many tests share when the first of them asks for it.
import { chmodSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleProgram, SQLITE_WORKER } from "../packages/checkpoint/src/chaos/program.ts";
import { install, PACKAGES } from "./bundle.mjs";
import { startEngine } from "./test-engine.mjs";
import { startPostgres } from "./test-postgres.mjs";
import { isVendored, vendor } from "./vendored.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** Below the packages we depend on and the SDKs of sandbox providers, so that they are found, and above nobody's sources. */
const PROGRAM = join(ROOT, "packages", "node_modules", `.deepwright-test-${process.pid}`);

export default async function setup() {
  let server;
  let engine;
  let program;
  const bundles = new Map();
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
    "/bundle": async (file) => {
      if (!bundles.has(file)) bundles.set(file, bundleTestProgram(file));
      return (await bundles.get(file)).file;
    },
  };
  const broker = createServer(async (request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url, "http://broker");
      response.end(await answers[pathname](searchParams.get("file")));
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
    for (const bundled of await Promise.allSettled(bundles.values()))
      if (bundled.value) rmSync(bundled.value.directory, { recursive: true, force: true });
  };
}

/** With what our packages load beside themselves, where they look for it: from among the chunks. Other users may read it. */
async function bundleTestProgram(file) {
  const bundled = await bundleProgram({
    [`chunks/${basename(file, ".ts")}`]: pathToFileURL(file),
    "sqlite/worker": SQLITE_WORKER,
    "records/service": pathToFileURL(join(ROOT, "packages/server/src/records/service.ts")),
  });
  chmodSync(bundled.directory, 0o755);
  return bundled;
}

/** The terminal program as it is published, but for the packages of others: it starts in a quarter of the time the sources need. */
async function buildProgram() {
  const modules = join(PROGRAM, "node_modules");
  const bundles = join(PROGRAM, "vendored");
  const specifiers = new Set();
  const locate = (specifier) => {
    if (!isVendored(specifier)) return specifier;
    specifiers.add(specifier);
    return join(bundles, specifier, "entry.js");
  };
  for (const directory of PACKAGES) await install(directory, modules, ROOT, locate);
  await vendor(specifiers, bundles, ROOT);
  return join(modules, "@deepwright", "cli", "dist", "main.js");
}
