/** One HTTP request on its way to the host it names. */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { connect as connectTls, rootCertificates } from "node:tls";
import { isHeaderValue, sameHeader } from "./egress-policy.ts";
import { type Gate, NotConnected } from "./gate.ts";
import type { Target } from "./host-name.ts";
import { redactable, redactStream, redactText } from "./redaction.ts";
import { join } from "./sockets.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  /** The sent path: begins with `/`, or is `*`. */
  readonly path: string;
  /** Whether the request goes out over TLS, with the headers that are injected for the host. */
  readonly isSecure: boolean;
  /** Set for a WebSocket request: its socket, and the bytes received so far. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
}

/** Authorities beside Node's own that may sign for hosts. */
export type ExtraAuthorities = readonly string[];

const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|expect)$/;

/** Methods that have a body only when they announce it. */
const WITHOUT_BODY = /^(?:GET|HEAD|DELETE|OPTIONS)$/;

/** Answers the request, or throws `NotConnected` before anything was answered. */
export async function forward(exchange: Exchange, gate: Gate, extra: ExtraAuthorities): Promise<void> {
  const { request, response, target } = exchange;
  const injected = exchange.isSecure ? await injectedHeaders(target, gate) : [];
  const headers = requestHeaders(exchange, injected);
  const raw = await gate.connect(target);
  if (response.destroyed || request.destroyed) {
    raw.destroy();
    return;
  }
  response.once("close", () => raw.destroySoon());
  const socket = exchange.isSecure ? await secured(raw, target, gate, extra) : raw;
  const secrets = injected.flatMap(({ value }) => redactable(value) ?? []);
  await sendRequest(exchange, socket, headers, secrets, gate);
}

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Asked for anew with each request. What they throw is not passed on: it may hold a secret. */
async function injectedHeaders(target: Target, gate: Gate): Promise<readonly Header[]> {
  const headers: Header[] = [];
  for (const { header, value } of gate.policy.injected.get(target.host) ?? []) {
    const text = await Promise.resolve()
      .then(() => (typeof value === "function" ? value() : value))
      .catch(() => undefined);
    if (!isHeaderValue(text)) throw gate.refuse(target, `there is no value for the header ${header}`, 502);
    headers.push({ name: header, value: text });
  }
  return headers;
}

/** A flat list of names and values: the client's headers without those of its connection, and the injected ones. */
function requestHeaders(exchange: Exchange, injected: readonly Header[]): string[] {
  const { request, target, isSecure, upgrade } = exchange;
  const defaultPort = isSecure ? 443 : 80;
  const list = ["Host", target.port === defaultPort ? target.host : `${target.host}:${target.port}`];
  const replaced = injected.map(({ name }) => name).concat(injected.length > 0 ? ["accept-encoding"] : []);
  for (const [name, value] of passedOn(request))
    if (!replaced.some((other) => sameHeader(other, name))) list.push(name, value);
  for (const { name, value } of injected) list.push(name, value);
  // A body that is not compressed can be searched for the value.
  if (injected.length > 0) list.push("Accept-Encoding", "identity");
  if (request.headers["transfer-encoding"] !== undefined) list.push("Transfer-Encoding", "chunked");
  else if (request.headers["content-length"] === undefined && !WITHOUT_BODY.test(request.method!))
    list.push("Content-Length", "0");
  if (request.headers.expect?.toLowerCase() === "100-continue") list.push("Expect", "100-continue");
  list.push(...(upgrade ? ["Connection", "Upgrade", "Upgrade", "websocket"] : ["Connection", "close"]));
  return list;
}

function* passedOn(message: IncomingMessage): Iterable<[string, string]> {
  const named = (message.headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const { rawHeaders } = message;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    // Without its length a body would be read as the next request.
    const isNamed = named.includes(name) && name !== "content-length";
    if (!HOP_BY_HOP.test(name) && !isNamed) yield [rawHeaders[at]!, rawHeaders[at + 1]!];
  }
}

/** TLS to the host. Its certificate must be valid for its name. */
function secured(raw: Duplex, target: Target, gate: Gate, extra: ExtraAuthorities): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: raw,
      servername: target.host,
      ALPNProtocols: ["http/1.1"],
      minVersion: "TLSv1.2",
      // The environment of this process does not matter.
      rejectUnauthorized: true,
      ...(extra.length > 0 ? { ca: [...rootCertificates, ...extra] } : {}),
    });
    const timer = setTimeout(() => fail(504, "does not answer"), gate.limits.connectTimeout);
    const fail = (status: number, what: string) => {
      clearTimeout(timer);
      socket.destroy();
      raw.destroy();
      reject(new NotConnected(status, `${target.host} ${what}`));
    };
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.on("error", (error: NodeJS.ErrnoException) =>
      fail(502, `cannot be reached over TLS (${error.code ?? "unknown"})`),
    );
  });
}

/** Resolves when the answer has begun or the client is gone. */
function sendRequest(
  exchange: Exchange,
  socket: Duplex,
  headers: string[],
  secrets: readonly string[],
  gate: Gate,
): Promise<void> {
  const { request, response, target, path, upgrade } = exchange;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket,
      method: request.method!,
      path,
      headers,
      setHost: false,
      maxHeaderSize: gate.limits.headerBytes,
      insecureHTTPParser: false,
    });
    const fail = (what: string) => {
      socket.destroy();
      if (response.headersSent) response.destroy();
      else reject(new NotConnected(502, `${target.host} ${what}`));
    };
    let isAnswered = false;
    outgoing.on("continue", () => response.writeContinue());
    outgoing.once("response", (answer) => {
      isAnswered = true;
      try {
        passAnswer(answer, response, secrets);
        resolve();
      } catch {
        fail("gave an answer that cannot be passed on");
      }
    });
    outgoing.once("upgrade", (answer, upstream, head) => {
      if (!upgrade) return fail("changed the protocol unasked");
      passUpgrade(answer, upstream, head, { ...upgrade, response }, secrets);
      resolve();
    });
    // After the answer has begun, the answer itself reports its failure.
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (!isAnswered) fail(`did not answer (${error.code ?? "unknown"})`);
    });
    response.once("close", () => {
      if (!response.writableFinished) outgoing.destroy();
      resolve();
    });
    sendBody(request, outgoing);
  });
}

function sendBody(request: IncomingMessage, outgoing: ClientRequest): void {
  outgoing.flushHeaders();
  request.on("error", () => outgoing.destroy());
  request.pipe(outgoing);
}

function answerHeaders(answer: IncomingMessage, secrets: readonly string[]): string[] {
  return [...passedOn(answer)].flatMap(([name, value]) => [name, redactText(value, secrets)]);
}

function passAnswer(answer: IncomingMessage, response: ServerResponse, secrets: readonly string[]): void {
  response.sendDate = false;
  const isPlain = (answer.headers["content-encoding"] ?? "identity") === "identity";
  const phrase = redactText(answer.statusMessage ?? "", secrets);
  response.writeHead(answer.statusCode!, phrase, answerHeaders(answer, secrets));
  response.flushHeaders();
  const redactions = isPlain ? secrets.map(redactStream) : [];
  pipeline([answer, ...redactions, response], () => {});
}

interface UpgradedClient {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly response: ServerResponse;
}

/** From here on the bytes pass between client and host without a check. */
function passUpgrade(
  answer: IncomingMessage,
  upstream: Duplex,
  head: Buffer,
  client: UpgradedClient,
  secrets: readonly string[],
): void {
  client.response.detachSocket(client.socket as never);
  const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
  const headers = answerHeaders(answer, secrets);
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  client.socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  if (head.length > 0) client.socket.write(head);
  if (client.head.length > 0) upstream.write(client.head);
  join(client.socket, upstream);
}
