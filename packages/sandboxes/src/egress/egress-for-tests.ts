/** A proxy whose names all lead to servers on loopback, and clients that speak to it. */
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  request,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type CertificateAuthority, createCertificateAuthority } from "./certificates.ts";
import type { EgressEvent, EgressOptions } from "./egress-options.ts";
import type { EgressLimits } from "./gate.ts";
import { connectTo } from "./gate.ts";
import { type EgressProxy, type EgressProxyRequest, startEgressProxy } from "./proxy.ts";

/** Servers and directories of a test, closed after it. */
export class Opened implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.unshift(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }

  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), "egress-"));
    this.add(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
  }

  async listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket.on("error", () => {}).once("close", () => sockets.delete(socket)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.add(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  }

  http(listener: RequestListener): Promise<number> {
    return this.listen(createHttpServer(listener));
  }

  /** A server with certificates of `authority` for whatever name it is asked for. */
  https(authority: CertificateAuthority, listener: RequestListener): Promise<number> {
    return this.listen(
      createHttpsServer({
        SNICallback: (name, done) =>
          Promise.resolve()
            .then(() => authority.contextFor(name))
            .then((context) => done(null, context), done),
      }).on("request", listener),
    );
  }

  tcp(listener: (socket: Socket) => void): Promise<number> {
    return this.listen(createServer({ allowHalfOpen: true }, listener));
  }
}

export interface TestProxy extends EgressProxy {
  readonly socketPath: string;
  readonly events: EgressEvent[];
  /** Names that were resolved, in order. */
  readonly lookups: string[];
  readonly dialled: string[];
}

export interface TestProxyOptions extends EgressOptions {
  /** Where connections to a port of the outside go on this machine; absent: to the same port. */
  readonly ports?: Readonly<Record<number, number>>;
  readonly limits?: Partial<EgressLimits>;
  readonly authority?: CertificateAuthority;
}

/** Takes every name for public and leads it to loopback; tells what it was asked for. */
export function loopbackParts(test: Pick<TestProxyOptions, "ports" | "limits" | "authority">) {
  const { ports = {}, limits = {}, authority } = test;
  const lookups: string[] = [];
  const dialled: string[] = [];
  const parts: NonNullable<EgressProxyRequest["parts"]> = {
    limits: { headerTimeout: 600_000, connectTimeout: 600_000, ...limits },
    extraAuthorities: authority ? [authority.certificate] : [],
    isPublic: () => true,
    lookup: async (host) => {
      lookups.push(host);
      return ["127.0.0.1"];
    },
    connect: (address, port) => {
      dialled.push(`${address}:${port}`);
      return connectTo(address, ports[port] ?? port);
    },
  };
  return { parts, lookups, dialled };
}

export async function openTestProxy(opened: Opened, test: TestProxyOptions): Promise<TestProxy> {
  const { ports: _, limits: __, authority: ___, ...options } = test;
  const socketPath = join(opened.directory(), "egress.sock");
  const events: EgressEvent[] = [];
  const { parts, lookups, dialled } = loopbackParts(test);
  const proxy = await startEgressProxy({
    socketPath,
    options: { onConnection: (event) => events.push(event), ...options },
    parts,
  });
  opened.add(() => proxy.close());
  return { ...proxy, socketPath, events, lookups, dialled };
}

export const newAuthority = createCertificateAuthority;

export interface Answer {
  readonly status: number;
  readonly phrase: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface SentRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Absent: the Unix socket of the proxy. */
  readonly over?: Socket | TLSSocket;
}

/** One request with `url` as it stands in its first line. */
export function send(socketPath: string, url: string, sent: SentRequest = {}): Promise<Answer> {
  const { over } = sent;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...(over ? { createConnection: () => over } : { socketPath }),
      path: url,
      method: sent.method ?? "GET",
      headers: sent.headers ?? {},
    });
    if (over) outgoing.once("socket", () => over.resume());
    outgoing.on("response", (message) => readAnswer(message).then(resolve, reject));
    outgoing.on("error", reject);
    outgoing.end(sent.body);
  });
}

export async function readAnswer(message: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const { statusCode, statusMessage, headers } = message;
  return { status: statusCode!, phrase: statusMessage!, headers, body: Buffer.concat(chunks).toString() };
}

/** The socket of a tunnel, or what the proxy said instead. */
export function openConnect(
  socketPath: string,
  authority: string,
): Promise<{ readonly socket: Socket; readonly status: number; readonly phrase: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath,
      method: "CONNECT",
      path: authority,
      headers: { host: authority },
    });
    outgoing.on("connect", (answer, socket, head) => {
      socket.on("error", () => {});
      if (head.length > 0) socket.unshift(head);
      resolve({ socket, status: answer.statusCode!, phrase: answer.statusMessage! });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

export interface TlsOptions {
  readonly ca: string;
  readonly servername: string;
  readonly ALPNProtocols?: string[];
}

/** TLS over a tunnel; rejects as the handshake does. */
export function secure(socket: Socket, options: TlsOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connectTls({ socket, ...options });
    secured.once("error", reject);
    secured.once("close", () => reject(new Error("closed")));
    secured.once("secureConnect", () => resolve(secured));
  });
}

/** Writes `bytes` and reads until the proxy ends the connection or `enough` is there. */
export function exchangeBytes(
  socketPath: string,
  bytes: Buffer | string,
  enough = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let received = Buffer.alloc(0);
    const done = () => {
      socket.destroy();
      resolve(received);
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= enough) done();
    });
    socket.on("error", done).on("close", done).on("end", done);
    socket.write(bytes);
  });
}
