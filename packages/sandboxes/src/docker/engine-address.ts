/** The address of the container engine: `DOCKER_HOST`, Docker's socket or Podman's. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "deepwright";
import type { Present } from "../checked-options.ts";

export interface EngineAddressOptions {
  /** A Unix socket of Docker or Podman. */
  readonly socketPath?: string | null;
  /** As in `DOCKER_HOST`: `unix:///…`, `tcp://host:port`, `http://…` or `https://…`. */
  readonly host?: string | null;
}

export type EngineAddress =
  | { readonly socketPath: string }
  | {
      readonly protocol: "http" | "https";
      readonly host: string;
      readonly port: number;
      /** A directory with `ca.pem`, `cert.pem` and `key.pem`. */
      readonly certificates?: string;
    };

type Environment = Readonly<Record<string, string | undefined>>;

/** The options first, then `DOCKER_HOST`, then the first socket that is there; where there is none, Docker's. */
export function engineAddress(
  { socketPath, host }: Present<EngineAddressOptions>,
  env: Environment = process.env,
  isThere: (path: string) => boolean = existsSync,
): EngineAddress {
  if (socketPath !== undefined) return { socketPath };
  const named = host ?? (env.DOCKER_HOST || undefined);
  if (named !== undefined) return parseHost(named, host === undefined ? "DOCKER_HOST" : "host", env);
  const sockets = usualSockets(env);
  return { socketPath: sockets.find(isThere) ?? (sockets[0] as string) };
}

function usualSockets(env: Environment): string[] {
  if (process.platform === "win32") return ["//./pipe/docker_engine"];
  return [
    "/var/run/docker.sock",
    ...(env.HOME ? [join(env.HOME, ".docker/run/docker.sock")] : []),
    ...(env.XDG_RUNTIME_DIR
      ? [join(env.XDG_RUNTIME_DIR, "docker.sock"), join(env.XDG_RUNTIME_DIR, "podman/podman.sock")]
      : []),
    "/run/podman/podman.sock",
  ];
}

function parseHost(text: string, name: string, env: Environment): EngineAddress {
  const local = /^(?:unix|npipe):\/\/(.+)$/.exec(text);
  if (local) return { socketPath: local[1] as string };
  const remote = /^(tcp|https?):\/\/(\[[^\]]+\]|[^/:]+)(?::(\d+))?\/?$/.exec(text);
  if (!remote)
    throw new ConfigurationError("INVALID_OPTION", `${name} is '${text}', which names no container engine.`, {
      hint: "Use unix:///path/to/socket or tcp://host:port; for an engine behind SSH, forward its socket.",
    });
  const [, scheme, host, given] = remote as unknown as [string, string, string, string | undefined];
  const isSecure = scheme === "https" || (scheme === "tcp" && isOn(env.DOCKER_TLS_VERIFY));
  const certificates = isSecure && env.DOCKER_CERT_PATH ? { certificates: env.DOCKER_CERT_PATH } : {};
  return {
    protocol: isSecure ? "https" : "http",
    host: host.replace(/^\[|\]$/g, ""),
    port: Number(given ?? (isSecure ? 2376 : 2375)),
    ...certificates,
  };
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0";
}

/** For messages. */
export function showAddress(address: EngineAddress): string {
  return "socketPath" in address
    ? address.socketPath
    : `${address.protocol}://${address.host}:${address.port}`;
}
