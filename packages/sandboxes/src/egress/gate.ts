/** The one way out: the rules for hosts, and a connection to the checked address. */
import { connect as connectSocket, type Socket } from "node:net";
import type { EgressPolicy } from "./egress-policy.ts";
import { printable, type Target } from "./host-name.ts";
import type { Lookup } from "./lookup.ts";

/** Limits of a proxy; times in milliseconds. */
export interface EgressLimits {
  /** Connections of a sandbox at a time; as many go out. */
  readonly connections: number;
  readonly headerBytes: number;
  /** For the head of a request, a SOCKS request or a TLS hello to be complete. */
  readonly headerTimeout: number;
  /** For a name to be resolved and the connection to be there. */
  readonly connectTimeout: number;
  /** After which a connection without a byte in either direction is ended. */
  readonly idleTimeout: number;
}

export const DEFAULT_LIMITS: EgressLimits = {
  connections: 256,
  headerBytes: 32_768,
  headerTimeout: 15_000,
  connectTimeout: 20_000,
  idleTimeout: 600_000,
};

/** As many of a name are tried. */
const MAX_ADDRESSES = 4;

/** Parts of the real network that tests replace. */
export interface GateParts {
  readonly lookup: Lookup;
  readonly isPublic: (address: string) => boolean;
  /** Begins to connect. */
  readonly connect: (address: string, port: number) => Socket;
  readonly limits: EgressLimits;
}

/** The reason why there is no connection, in words for programs in the sandbox; `status` is the HTTP status. */
export class NotConnected extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

export interface Gate {
  readonly policy: EgressPolicy;
  readonly limits: EgressLimits;
  /** Throws `NotConnected` when the list does not allow the target; nothing is looked up or dialled for it. */
  check(target: Target): void;
  /** A connection to the target, checked; throws `NotConnected`. */
  connect(target: Target): Promise<Socket>;
  /** Reports the refused target and returns the error to throw. */
  refuse(target: Target, reason: string, status?: number): NotConnected;
  /** A socket that is ended with the gate. */
  own(socket: Socket): void;
  /** Ends all connections. Safe twice. */
  close(): void;
}

export function createGate(policy: EgressPolicy, parts: GateParts): Gate {
  const owned = new Set<Socket>();
  let outgoing = 0;
  let isClosed = false;
  const own = (socket: Socket) => {
    if (isClosed) socket.destroy();
    else owned.add(socket.once("close", () => owned.delete(socket)));
  };
  const refuse = (target: Target, reason: string, status = 403) => {
    tell(policy, target, false, reason);
    return new NotConnected(status, reason);
  };
  const check = ({ host, port }: Target) => {
    if (policy.allowList.allows(host, port)) return;
    const shown = printable(host);
    const reason = policy.allowList.names(host)
      ? `port ${port} of ${shown} is not on the egress allow list`
      : `${shown} is not on the egress allow list`;
    throw refuse({ host, port }, reason);
  };
  const connectChecked = async (target: Target) => {
    check(target);
    if (isClosed || outgoing >= parts.limits.connections)
      throw refuse(target, "too many connections at a time", 503);
    outgoing++;
    try {
      const socket = await dial(target, parts, refuse);
      own(socket);
      if (isClosed) throw new NotConnected(503, "the egress proxy is closed");
      socket.once("close", () => outgoing--);
      tell(policy, target, true);
      return socket;
    } catch (error) {
      outgoing--;
      throw error;
    }
  };
  const close = () => {
    isClosed = true;
    for (const socket of owned) socket.destroy();
  };
  return { policy, limits: parts.limits, check, connect: connectChecked, refuse, own, close };
}

/** Resolves the name once, refuses it when any of its addresses is not public, and dials the checked addresses. */
async function dial(target: Target, parts: GateParts, refuse: Gate["refuse"]): Promise<Socket> {
  const deadline = AbortSignal.timeout(parts.limits.connectTimeout);
  const addresses = await resolved(target, parts, deadline);
  if (!addresses.every(parts.isPublic))
    throw refuse(target, `${target.host} has an address that is not public`);
  let failure: unknown;
  const tried = addresses.slice(0, MAX_ADDRESSES);
  for (const [index, address] of tried.entries()) {
    if (deadline.aborted) break;
    const isLast = index === tried.length - 1;
    const patience = isLast
      ? deadline
      : AbortSignal.any([deadline, AbortSignal.timeout(parts.limits.connectTimeout / 4)]);
    try {
      return await connected(parts.connect(address, target.port), patience);
    } catch (error) {
      failure = error;
    }
  }
  if (deadline.aborted) throw new NotConnected(504, `${target.host} does not answer`);
  throw new NotConnected(502, `${target.host} cannot be reached${codeOf(failure)}`);
}

async function resolved(target: Target, parts: GateParts, deadline: AbortSignal): Promise<readonly string[]> {
  try {
    const addresses = await Promise.race([parts.lookup(target.host), rejectedBy(deadline)]);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (deadline.aborted) throw new NotConnected(504, `${target.host} was not resolved in time`);
    throw new NotConnected(502, `${target.host} cannot be resolved${codeOf(error)}`);
  }
  throw new NotConnected(502, `${target.host} has no address`);
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );
}

/** To a literal address, so that nothing is resolved again. */
export function connectTo(address: string, port: number): Socket {
  return connectSocket({ host: address, port, allowHalfOpen: true, noDelay: true });
}

function connected(socket: Socket, deadline: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const giveUp = () => socket.destroy(deadline.reason as Error);
    deadline.addEventListener("abort", giveUp, { once: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      deadline.removeEventListener("abort", giveUp);
      socket.off("error", reject);
      // The caller listens for the end; an error alone is no reason to end this process.
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}

function tell(policy: EgressPolicy, target: Target, allowed: boolean, reason?: string): void {
  if (!policy.onConnection) return;
  const event = { host: printable(target.host), port: target.port, allowed, ...(reason ? { reason } : {}) };
  try {
    policy.onConnection(event);
  } catch (error) {
    process.emitWarning(`egress.onConnection threw: ${String(error)}`);
  }
}
