/** The proxy as a SOCKS 5 server: only connections to hosts by name, without authentication. */
import type { Socket } from "node:net";
import { NotConnected } from "./gate.ts";
import { canonicalHost, type HostResult, printable, type Target } from "./host-name.ts";
import { peek } from "./sockets.ts";
import { openTunnel, type TunnelParts } from "./tunnel.ts";

export const SOCKS_VERSION = 5;
const CONNECT = 1;
const NO_AUTHENTICATION = 0;

const REPLY = {
  ok: 0,
  failed: 1,
  notAllowed: 2,
  unreachable: 4,
  noSuchCommand: 7,
  noSuchAddressType: 8,
} as const;
/** Length of the address in a request, by its type: 1 is IPv4, 3 a name, 4 IPv6. */
const ADDRESS_LENGTH: Readonly<Record<number, (bytes: Buffer) => number>> = {
  1: () => 4,
  3: (bytes) => 1 + bytes[4]!,
  4: () => 16,
};

/** Serves a client whose first byte is the version. `gate` decides about hosts. */
export async function serveSocks(client: Socket, parts: TunnelParts): Promise<void> {
  const { gate } = parts;
  const greeting = await take(client, parts, (bytes) => 2 + (bytes[1] ?? Number.POSITIVE_INFINITY));
  if (!greeting) return void client.destroy();
  const takesNoAuthentication = greeting.subarray(2).includes(NO_AUTHENTICATION);
  client.write(Buffer.from([SOCKS_VERSION, takesNoAuthentication ? NO_AUTHENTICATION : 0xff]));
  if (!takesNoAuthentication) return void client.end();
  const request = await take(client, parts, requestLength);
  if (!request) return void client.destroy();
  if (request[0] !== SOCKS_VERSION || request[1] !== CONNECT) return reply(client, REPLY.noSuchCommand);
  if (!ADDRESS_LENGTH[request[3]!]) return reply(client, REPLY.noSuchAddressType);
  const port = request.readUInt16BE(request.length - 2);
  const name = request[3] === 3 ? printable(request.toString("latin1", 5, request.length - 2)) : "the target";
  const target = targetOf(request, port);
  try {
    if (target.refusal !== undefined) throw gate.refuse({ host: name, port }, `${name} ${target.refusal}`);
    gate.check(target.value);
    if (gate.policy.injected.has(target.value.host))
      throw gate.refuse(target.value, "a host with an injected header is reached by HTTP CONNECT alone");
    await openTunnel(client, target.value, parts, () => client.write(answer(REPLY.ok)));
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error;
    reply(client, error.status === 403 ? REPLY.notAllowed : REPLY.unreachable);
  }
}

function targetOf(request: Buffer, port: number): HostResult<Target> {
  if (request[3] !== 3) return { refusal: "is an address; hosts are reached by name" };
  const host = canonicalHost(request.toString("utf8", 5, request.length - 2));
  if (host.refusal !== undefined) return host;
  return port === 0 ? { refusal: "has no valid port" } : { value: { host: host.value, port } };
}

/** Bytes of a request. One with an unknown type of address ends after its head, and is refused. */
function requestLength(bytes: Buffer): number {
  if (bytes.length < 5) return Number.POSITIVE_INFINITY;
  const length = ADDRESS_LENGTH[bytes[3]!];
  return length ? 4 + length(bytes) + 2 : 5;
}

/** Waits for as many bytes as `length` returns, and reads them. Undefined: the client left or was too slow. */
async function take(
  client: Socket,
  { gate }: TunnelParts,
  length: (bytes: Buffer) => number,
): Promise<Buffer | undefined> {
  const enough = (bytes: Buffer) => (bytes.length >= length(bytes) ? length(bytes) : undefined);
  const size = await peek(client, enough, gate.limits.headerTimeout);
  return size === undefined ? undefined : (client.read(size) as Buffer);
}

function reply(client: Socket, code: number): void {
  client.once("finish", () => client.destroy()).end(answer(code));
}

function answer(code: number): Buffer {
  return Buffer.from([SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}
