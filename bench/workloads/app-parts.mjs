/** The terminal app without a terminal, for its measurements. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { BENCH } from "../install.mjs";

/** Some packages in the bundle are CommonJS. */
const REQUIRE =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

export async function appFromSource() {
  const folder = mkdtempSync(join(tmpdir(), "deepwright-bench-frame-"));
  const contents = `export { App } from "./packages/cli/src/app/app.ts";
export { emptyScreen, foldEvents } from "./packages/protocol/src/index.ts";`;
  try {
    await build({
      stdin: { contents, resolveDir: join(BENCH, ".."), loader: "ts" },
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      conditions: ["source"],
      banner: { js: REQUIRE },
      external: ["@langchain/*", "langchain", "better-sqlite3", "pg"],
      logLevel: "error",
    });
    return await import(pathToFileURL(join(folder, "stdin.mjs")).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `onWrite` gets everything that is drawn. */
export function optionsOf(onWrite = () => {}, stdin = {}) {
  const stdout = {
    columns: 120,
    rows: 40,
    bytes: 0,
    write: (text) => {
      stdout.bytes += text.length;
      onWrite(text);
    },
  };
  return {
    directory: BENCH,
    initialTheme: "dark",
    hasColour: true,
    environment: {},
    stdin,
    stdout,
    reflows: true,
  };
}

export function sessionOf(screen) {
  return {
    screen,
    startedAt: Date.now(),
    isRunning: true,
    isWaiting: false,
    isInterrupting: false,
    mode: "ask",
    steering: new Map(),
    queue: ["and the tests, please"],
    usageOfRun: screen.usage,
    told: { messages: [] },
    place: {
      ...{ model: "bench:model", isOffline: false, sandbox: "os sandbox", notices: [], hasModes: true },
      ...{ budget: {}, costOf: () => undefined },
    },
  };
}
