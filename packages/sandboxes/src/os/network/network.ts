/** How a sandbox on this machine reaches the few hosts it may reach. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EgressOptions } from "../../egress/egress-options.ts";
import { type EgressProxy, type EgressProxyRequest, startEgressProxy } from "../../egress/proxy.ts";
import { BRIDGE_PROGRAM } from "./network-bridge.ts";
import { removeLeftovers } from "./network-leftovers.ts";
import { trustBundle, trustVariables } from "./network-trust.ts";

/** A file or directory of this machine and where it is in the sandbox. */
export interface Bind {
  readonly from: string;
  readonly to: string;
  readonly isWritable?: boolean;
}

/** Arguments and binds with which the commands of a sandbox reach the proxy. */
export interface SandboxNetwork {
  /** In this order: the second lies in the first. */
  readonly binds: readonly Bind[];
  /** Stands before the command that is run in the sandbox. */
  readonly argv: readonly string[];
  /** Variables of commands beside those that the bridge in `argv` hands to them. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the proxy and removes its files. Safe twice. */
  close(): Promise<void>;
}

export interface NetworkLocation {
  /** A directory is made in it that nobody else can look into. */
  readonly directory: string;
  /** For tests: see `EgressProxyRequest`. */
  readonly parts?: EgressProxyRequest["parts"];
}

/** Where it all lies in a sandbox. */
const INSIDE = "/run/deepwright-egress";
const CERTIFICATE = `${INSIDE}/ca.pem`;
/** On the loopback of the sandbox, for HTTP and SOCKS 5 alike. */
const PORT = 3128;
/** The directory of one network, and the socket in it. */
const PREFIX = "egress-";
const SOCKET = "in/socket";
/** The longest path of a Unix socket on Linux. */
const MAX_SOCKET_PATH = 107;
/** A relay needs no threads for V8, and a sandbox may be allowed few. */
const NODE_FLAG = "--v8-pool-size=0";

/**
 * Starts the proxy for one sandbox that has no network but its own loopback. Throws a `ConfigurationError` for
 * options that are not understood; then nothing is left.
 */
export async function openSandboxNetwork(
  options: EgressOptions,
  location: NetworkLocation,
): Promise<SandboxNetwork> {
  await removeLeftovers(location.directory, PREFIX, SOCKET);
  const directory = await privateDirectory(location.directory);
  let proxy: EgressProxy | undefined;
  const close = async () => {
    await proxy?.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const shared = join(directory, dirname(SOCKET));
    await mkdir(shared);
    // In the sandbox it may be somebody else's.
    await chmod(shared, 0o755);
    const socketPath = join(directory, SOCKET);
    proxy = await startEgressProxy({
      socketPath,
      options,
      ...(location.parts ? { parts: location.parts } : {}),
    });
    await writeShared(shared, "bridge.cjs", BRIDGE_PROGRAM);
    await writeShared(shared, "node", "");
    const trust = proxy.caCertificate === undefined ? {} : await writeTrust(shared, proxy.caCertificate);
    return {
      binds: [
        { from: shared, to: INSIDE },
        { from: process.execPath, to: `${INSIDE}/node` },
      ],
      argv: bridgeCommand(proxy),
      env: { ...proxyVariables(), ...trust },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The bridge hands Node's own variables to the command alone: with them in its environment Node takes twice as long
 * to start.
 */
function bridgeCommand({ caCertificate }: EgressProxy): string[] {
  const trust = caCertificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: CERTIFICATE };
  const variables = JSON.stringify({ NODE_USE_ENV_PROXY: "1", ...trust });
  return [`${INSIDE}/node`, NODE_FLAG, `${INSIDE}/bridge.cjs`, `${INSIDE}/socket`, String(PORT), variables];
}

/** Elsewhere when the path would be too long for a socket. */
async function privateDirectory(parent: string): Promise<string> {
  const longest = join(parent, `${PREFIX}XXXXXX`, SOCKET);
  const isShort = Buffer.byteLength(longest) <= MAX_SOCKET_PATH;
  return mkdtemp(join(isShort ? parent : tmpdir(), PREFIX));
}

async function writeShared(directory: string, name: string, content: string): Promise<void> {
  const path = join(directory, name);
  await writeFile(path, content);
  await chmod(path, 0o644);
}

async function writeTrust(directory: string, certificate: string): Promise<Record<string, string>> {
  await writeShared(directory, "ca.pem", certificate);
  await writeShared(directory, "ca-bundle.pem", await trustBundle(certificate));
  return trustVariables(`${INSIDE}/ca-bundle.pem`);
}

/** An HTTP proxy for everything: more programs know it than SOCKS, and some fail when a variable names SOCKS. */
function proxyVariables(): Record<string, string> {
  const url = `http://127.0.0.1:${PORT}`;
  const local = "localhost,127.0.0.1,::1";
  const variables: Record<string, string> = {};
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
    variables[name] = url;
    variables[name.toLowerCase()] = url;
  }
  return { ...variables, NO_PROXY: local, no_proxy: local };
}

export type { EgressOptions };
