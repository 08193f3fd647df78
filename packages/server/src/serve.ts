/** The server on a port of this machine. */
import { rm } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { homedir, networkInterfaces } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { ConfigurationError } from "deepwright";
import { type AppOptions, createApp, type ServerApp } from "./http/app.ts";
import { answerBadRequests } from "./http/bad-requests.ts";
import { releasePieces } from "./http/release-pieces.ts";
import { openTokenFile, type ServerToken } from "./http/token-file.ts";

export interface ServeOptions extends AppOptions {
  /** Default 2024; 0 for any that is free. */
  readonly port?: number;
  /** Default `127.0.0.1`. Beyond loopback a `token` or `authenticate` must be given. */
  readonly host?: string;
  /** A certificate and its key, in PEM: the server speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Where the token is kept when none is given. Default `~/.deepwright/server-token`. */
  readonly tokenFile?: string;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Absent where `authenticate` or `token` was given. `created`: it is new, and shown this once. */
  readonly token: ServerToken | undefined;
  readonly app: ServerApp;
  /** Takes no more requests, lets runs come to rest, ends streams so that clients can resume them. Safe twice. */
  close(): Promise<void>;
}

export const defaultDatabase = (): string =>
  process.env.DATABASE_URL || join(homedir(), ".deepwright", "server.db");

/**
 * How long a connection may rest. Longer than clients and proxies keep theirs, mostly for a minute: one that we close is
 * closed for a request that is under way just then.
 */
const KEPT_MS = 75_000;

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host = "127.0.0.1", tokenFile } = options;
  const isGuarded = options.authenticate !== undefined || options.token !== undefined;
  if (!isLoopback(host) && !isGuarded)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `The server does not listen on ${host} without authentication.`,
      {
        hint: "Give a token or authenticate, or listen on 127.0.0.1.",
      },
    );
  const token = isGuarded ? undefined : await openTokenFile(tokenFile);
  try {
    return await listening(options, token);
  } catch (error) {
    // A token is shown when it is made: one that nobody saw must not stay.
    if (token?.created) await rm(token.path, { force: true });
    throw error;
  }
}

async function listening(options: ServeOptions, token: ServerToken | undefined): Promise<RunningServer> {
  const { port = 2024, host = "127.0.0.1", tls, tokenFile: _, ...rest } = options;
  const app = await createApp({
    loadAgents: true,
    ...rest,
    ...(token && { token: token.token }),
    database: rest.database ?? defaultDatabase(),
    allowedHosts: [...(rest.allowedHosts ?? []), ...(isAddress(host) ? ownAddresses() : [host])],
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    ...(tls && { createServer: createSecureServer, serverOptions: tls }),
  }) as HttpServer;
  server.keepAliveTimeout = KEPT_MS;
  server.prependListener("request", (_request, response) => releasePieces(response));
  answerBadRequests(server);
  try {
    await listen(server, port, host);
  } catch (error) {
    await app.close();
    throw error;
  }
  const address = server.address();
  const actual = typeof address === "object" && address ? address.port : port;
  let closing: Promise<void> | undefined;
  return {
    url: `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    port: actual,
    token,
    app,
    close: () => {
      closing ??= closeAll(server, app);
      return closing;
    },
  };
}

async function closeAll(server: HttpServer, app: ServerApp): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeIdleConnections();
  await app.close();
  server.closeAllConnections();
  await closed;
}

function listen(server: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      done();
    });
  });
}

/** Addresses and the one name that mean this machine alone. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** All addresses: no client sends this as a Host. */
const isAddress = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** Numbers, which no foreign name can stand for. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address, family }) => (family === "IPv6" ? `[${address.replace(/%.*$/, "")}]` : address));
}
