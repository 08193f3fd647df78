/** A page in Chromium, from an origin of its own, that talks to a server on another port. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { PATIENCE_MS } from "../../../../scripts/test-time.ts";

export interface PageHost {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves the page, bundled as an application would be. */
export async function servePage(entry: string): Promise<PageHost> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    // Instead of the tsconfig of the repository, which names the library of our own page.
    tsconfigRaw: { compilerOptions: { jsx: "react-jsx", jsxImportSource: "react" } },
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  const script = outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    if (request.url === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else
      response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end('<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

export function launchChromium(): Promise<Browser> {
  const executablePath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "chromium"))
    .find((file) => existsSync(file));
  if (executablePath === undefined) throw new Error("There is no chromium on the PATH.");
  return chromium.launch({
    executablePath,
    timeout: PATIENCE_MS,
    args: ["--no-sandbox", "--disable-background-networking"],
  });
}
