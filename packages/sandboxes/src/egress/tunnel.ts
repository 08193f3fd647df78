/** A connection that was asked for by CONNECT or SOCKS. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { CertificateAuthority } from "./certificates.ts";
import { readClientHello, TLS_HANDSHAKE, UNRECOGNIZED_NAME_ALERT } from "./client-hello.ts";
import type { Gate } from "./gate.ts";
import { canonicalHost, type Target } from "./host-name.ts";
import { joinOne, peek } from "./sockets.ts";

/** A connection whose requests all go to one host. */
export interface FixedTarget {
  readonly target: Target;
  readonly isSecure: boolean;
}

export interface TunnelParts {
  readonly gate: Gate;
  /** Undefined: no header is injected anywhere. */
  readonly authority: CertificateAuthority | undefined;
  /** Reads HTTP from the socket. */
  readonly serveHttp: (socket: Duplex, fixed: FixedTarget) => void;
}

/**
 * Leads the client to the target; `established` tells it that it may begin. Throws `NotConnected` before that.
 *
 * Injected hosts get their TLS ended here. Port 80 is read as HTTP, so that no request names another host than the
 * connection. Elsewhere the bytes pass untouched, once a TLS client has named the same host as the connection.
 */
export async function openTunnel(
  client: Socket,
  target: Target,
  parts: TunnelParts,
  established: () => void,
): Promise<void> {
  const { gate } = parts;
  gate.check(target);
  client.setTimeout(gate.limits.idleTimeout);
  if (gate.policy.injected.has(target.host)) {
    established();
    await endTls(client, target, parts);
  } else if (target.port === 80) {
    established();
    await readPort80(client, target, parts);
  } else {
    const upstream = await gate.connect(target);
    established();
    // Some servers speak first.
    joinOne(upstream, client);
    await passOn(client, upstream, target, gate);
  }
}

async function readPort80(client: Socket, target: Target, parts: TunnelParts): Promise<void> {
  const first = await protocolOf(client, target, parts.gate);
  if (first === "plain") return parts.serveHttp(client, { target, isSecure: false });
  if (first !== "tls") return refuseHello(client, target, parts.gate, first);
  const upstream = await parts.gate.connect(target).catch(() => undefined);
  if (!upstream) return void client.destroy();
  joinOne(upstream, client);
  joinOne(client, upstream);
}

async function passOn(client: Socket, upstream: Socket, target: Target, gate: Gate): Promise<void> {
  const first = await protocolOf(client, target, gate);
  if (first === "tls" || first === "plain") return joinOne(client, upstream);
  upstream.destroy();
  refuseHello(client, target, gate, first);
}

type Protocol = "tls" | "plain" | "other-name";

/** Protocol of the client, by its first bytes; undefined: it left, or took too long over a hello. */
function protocolOf(client: Socket, target: Target, gate: Gate): Promise<Protocol | undefined> {
  const decide = (bytes: Buffer): Protocol | undefined => {
    if (bytes[0] !== TLS_HANDSHAKE) return "plain";
    const hello = readClientHello(bytes);
    if (hello.state === "incomplete") return undefined;
    if (hello.state === "invalid") return "other-name";
    return canonicalHost(hello.serverName ?? "").value === target.host ? "tls" : "other-name";
  };
  return peek(client, decide, gate.limits.headerTimeout);
}

function refuseHello(client: Socket, target: Target, gate: Gate, first: Protocol | undefined): void {
  if (first === "other-name") {
    gate.refuse(target, "the TLS server name is not the host of the connection");
    client.once("finish", () => client.destroy()).end(UNRECOGNIZED_NAME_ALERT);
  } else client.destroy();
}

async function endTls(client: Socket, target: Target, parts: TunnelParts): Promise<void> {
  const { gate, authority } = parts;
  const first = await protocolOf(client, target, gate);
  if (first === "plain") gate.refuse(target, "a host with an injected header is reached over TLS alone");
  if (first !== "tls" || !authority) return refuseHello(client, target, gate, first);
  const secureContext = await authority.contextFor(target.host);
  if (client.destroyed) return;
  const secure = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
  gate.own(secure);
  const timer = setTimeout(() => secure.destroy(), gate.limits.headerTimeout);
  secure.once("close", () => clearTimeout(timer));
  secure.on("error", () => secure.destroy());
  secure.once("secure", () => {
    clearTimeout(timer);
    parts.serveHttp(secure, { target, isSecure: true });
  });
}
