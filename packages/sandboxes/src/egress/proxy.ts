/** The proxy between a sandbox and the network: HTTP, CONNECT and SOCKS 5 on one Unix socket. */

import { chmod } from "node:fs/promises";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  ServerResponse,
} from "node:http";
import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isPublicAddress } from "deepwright/net";
import { createCertificateAuthority } from "./certificates.ts";
import type { EgressOptions } from "./egress-options.ts";
import { checkEgressOptions } from "./egress-policy.ts";
import { type ExtraAuthorities, forward } from "./forward.ts";
import {
  connectTo,
  createGate,
  DEFAULT_LIMITS,
  type EgressLimits,
  type Gate,
  type GateParts,
  NotConnected,
} from "./gate.ts";
import { parseAuthority, printable, type Target } from "./host-name.ts";
import { createLookup } from "./lookup.ts";
import { peek } from "./sockets.ts";
import { SOCKS_VERSION, serveSocks } from "./socks.ts";
import { type FixedTarget, openTunnel, type TunnelParts } from "./tunnel.ts";

export interface EgressProxyRequest {
  /**
   * Its directory must be private. The socket belongs to this process's user alone; it can be given to the user of the
   * sandbox.
   */
  readonly socketPath: string;
  readonly options: EgressOptions;
  /** For tests: replacements for the real network. */
  readonly parts?: Partial<Omit<GateParts, "limits">> & {
    readonly limits?: Partial<EgressLimits>;
    readonly extraAuthorities?: ExtraAuthorities;
  };
}

export interface EgressProxy {
  /** PEM; undefined when no header is injected, and then nothing need be trusted. */
  readonly caCertificate: string | undefined;
  /** Ends every connection and removes the socket. Safe twice. */
  close(): Promise<void>;
}

interface Proxy extends TunnelParts {
  readonly http: Server;
  /** Connections that lead to one host. */
  readonly fixed: WeakMap<Duplex, FixedTarget>;
  readonly extraAuthorities: ExtraAuthorities;
}

/** Listens; throws a `ConfigurationError` for options that are not understood. */
export async function startEgressProxy(request: EgressProxyRequest): Promise<EgressProxy> {
  const { socketPath, options, parts = {} } = request;
  const policy = checkEgressOptions(options);
  const limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const { lookup = createLookup(), isPublic = isPublicAddress, connect = connectTo } = parts;
  const gate = createGate(policy, { lookup, isPublic, connect, limits });
  const hosts = [...policy.injected.keys()];
  const authority = hosts.length > 0 ? await createCertificateAuthority(hosts) : undefined;
  const http = createHttpServer({
    maxHeaderSize: limits.headerBytes,
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  const fixed = new WeakMap<Duplex, FixedTarget>();
  const serveHttp = (socket: Duplex, target: FixedTarget) => {
    fixed.set(socket, target);
    readHttp(http, socket);
  };
  const proxy = { gate, authority, http, fixed, serveHttp, extraAuthorities: parts.extraAuthorities ?? [] };
  wireHttp(proxy);
  const server = createServer({ allowHalfOpen: true }, (socket) => void accept(socket, proxy));
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      gate.close();
    });
    return closing;
  };
  return { caCertificate: authority?.certificate, close };
}

async function accept(socket: Socket, proxy: Proxy): Promise<void> {
  const { gate, http } = proxy;
  gate.own(socket);
  socket.on("error", () => socket.destroy());
  socket.on("timeout", () => socket.destroy());
  socket.setTimeout(gate.limits.headerTimeout);
  const version = await peek(socket, (bytes) => bytes[0], gate.limits.headerTimeout);
  if (version === undefined) return void socket.destroy();
  if (version !== SOCKS_VERSION) return readHttp(http, socket);
  // A bug must not end the process that holds the sandbox; the connection it hit is ended.
  await serveSocks(socket, proxy).catch(() => socket.destroy());
}

/** The socket is paused since its first bytes were read. */
function readHttp(http: Server, socket: Duplex): void {
  http.emit("connection", socket);
  socket.resume();
}

function wireHttp(proxy: Proxy): void {
  const { http, gate } = proxy;
  http.timeout = gate.limits.idleTimeout;
  http.keepAliveTimeout = 60_000;
  http.on("connection", (socket: Socket) => {
    expectHead(socket, gate);
    socket.once("close", () => gotHead(socket));
  });
  http.on("request", (request, response) => void serve(request, response, proxy));
  http.on("checkContinue", (request, response) => void serve(request, response, proxy));
  http.on("upgrade", (request, socket, head) => void serveUpgrade(request, socket, head, proxy));
  http.on("connect", (request, socket, head) => void serveConnect(request, socket as Socket, head, proxy));
  http.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status =
      error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  });
}

const headTimers = new WeakMap<Duplex, NodeJS.Timeout>();

/** The head of the next request must be complete in time, however slowly it comes. */
function expectHead(socket: Duplex, gate: Gate, timeout = gate.limits.headerTimeout): void {
  gotHead(socket);
  if (socket.destroyed) return;
  headTimers.set(
    socket,
    setTimeout(() => socket.destroy(), timeout),
  );
}

function gotHead(socket: Duplex): void {
  clearTimeout(headTimers.get(socket));
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  proxy: Proxy,
  upgrade?: Upgrade,
): Promise<void> {
  const { socket } = request;
  gotHead(socket);
  if (!upgrade)
    response.once("close", () => expectHead(socket, proxy.gate, proxy.http.keepAliveTimeout + 1_000));
  try {
    const { target, path, isSecure } = destinationOf(request, proxy);
    const exchange = { request, response, target, path, isSecure, ...(upgrade ? { upgrade } : {}) };
    await forward(exchange, proxy.gate, proxy.extraAuthorities);
  } catch (error) {
    request.resume();
    const { status, message } = error instanceof NotConnected ? error : UNSENDABLE;
    if (response.headersSent) response.destroy();
    else response.writeHead(status, message, ownHeaders(message)).end(`${message}\n`);
  }
}

const UNSENDABLE = new NotConnected(400, "the request cannot be passed on");

/** Where a request goes: to the host of its connection, else to the one its first line names. Throws `NotConnected`. */
function destinationOf(request: IncomingMessage, proxy: Proxy): FixedTarget & { readonly path: string } {
  const { gate, fixed } = proxy;
  const url = request.url ?? "";
  const known = fixed.get(request.socket);
  if (request.method === "TRACE" || request.method === "TRACK")
    throw new NotConnected(405, "TRACE would show what others added to the request");
  if (known) {
    const named = parseAuthority(request.headers.host ?? "", known.isSecure ? 443 : 80).value;
    if (!named || named.host !== known.target.host || named.port !== known.target.port)
      throw gate.refuse(known.target, "the Host header is not the host of the connection", 421);
    if (!url.startsWith("/") && url !== "*")
      throw new NotConnected(400, "the request names a host of its own");
    return { ...known, path: url };
  }
  const [, scheme, authority, path] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^#]*)$/i.exec(url) ?? [];
  if (authority === undefined) throw new NotConnected(400, "this is a proxy: the request must name a host");
  if (scheme!.toLowerCase() !== "http")
    throw new NotConnected(400, "only http is passed on like this; https needs CONNECT");
  const target = parseTarget(authority, 80, gate);
  gate.check(target);
  if (gate.policy.injected.has(target.host))
    throw gate.refuse(target, "a host with an injected header is reached over TLS alone");
  return { target, isSecure: false, path: path!.startsWith("/") ? path! : `/${path}` };
}

function parseTarget(authority: string, defaultPort: number | undefined, gate: Gate): Target {
  const parsed = parseAuthority(authority, defaultPort);
  if (parsed.refusal === undefined) return parsed.value;
  const host = printable(authority);
  throw gate.refuse({ host, port: 0 }, `${host || "the request"} ${parsed.refusal}`);
}

/** WebSocket is passed on; other protocols are not spoken, so their request is an ordinary one, the last of its connection. */
function serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, proxy: Proxy): Promise<void> {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  socket.on("error", () => socket.destroy());
  const isWebSocket = request.headers.upgrade?.toLowerCase() === "websocket";
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"];
  if (!isWebSocket && hasBody) {
    response.writeHead(501, "the protocol to upgrade to is not known").end();
    return Promise.resolve();
  }
  return serve(request, response, proxy, isWebSocket ? { socket, head } : undefined);
}

async function serveConnect(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  proxy: Proxy,
): Promise<void> {
  gotHead(socket);
  socket.on("error", () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  let isEstablished = false;
  try {
    if (proxy.fixed.has(socket)) throw new NotConnected(405, "a tunnel inside a tunnel is not opened");
    const target = parseTarget(request.url ?? "", undefined, proxy.gate);
    await openTunnel(socket, target, proxy, () => {
      isEstablished = true;
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    });
  } catch (error) {
    if (isEstablished) return void socket.destroy();
    const { status, message } = error instanceof NotConnected ? error : UNSENDABLE;
    const headers = { ...ownHeaders(message), Connection: "close", "Content-Length": message.length + 1 };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket
      .once("finish", () => socket.destroy())
      .end(`HTTP/1.1 ${status} ${message}\r\n${lines.join("")}\r\n${message}\n`);
  }
}

/** Header that marks an answer of the proxy itself, not of the host (RFC 9209). */
function ownHeaders(message: string): Record<string, string> {
  return {
    "Content-Type": "text/plain",
    "Proxy-Status": `deepwright; details="${message.replaceAll(/["\\]/g, "'")}"`,
  };
}
