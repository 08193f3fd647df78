/** Agents as an MCP server on the pipes of this process. */
import type { Readable, Writable } from "node:stream";
import { type AgentTools, createAgentsServer } from "./agents-as-tools.ts";
import { loadServerSdk } from "./load-server-sdk.ts";

export interface ServeStdioOptions extends AgentTools {
  readonly stdin?: Readable;
  /** Nothing else may write to it. */
  readonly stdout?: Writable;
  readonly signal?: AbortSignal;
}

/** Resolves when the client has gone or the signal aborts; runs it waited for are then cancelled. */
export async function serveMcpStdio(options: ServeStdioOptions): Promise<void> {
  const { stdin = process.stdin, stdout = process.stdout, signal, ...agents } = options;
  const [sdk, server] = await Promise.all([loadServerSdk(), createAgentsServer(agents)]);
  signal?.throwIfAborted();
  const gone = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
    stdout.once("error", () => resolve());
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new sdk.StdioServerTransport(stdin, stdout));
  await gone;
  await server.close();
}
