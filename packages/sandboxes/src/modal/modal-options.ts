/** What a user says about sandboxes at Modal, and what is said by nobody. */
import type { ModalClient, Sandbox, SandboxCreateParams } from "modal";
import { checkDirectory, checkSeconds } from "../remote/checked-options.ts";
import { checkNetwork, type VendorNetwork } from "../remote/vendor-network.ts";

export interface ModalCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/workspace`. */
  readonly workingDirectory?: string;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
}

export interface ModalSandboxOptions extends ModalCommandOptions {
  /** Default: MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or the profile of `~/.modal.toml`. */
  readonly tokenId?: string;
  readonly tokenSecret?: string;
  /** The Modal environment; default: that of the profile. */
  readonly environment?: string;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: ModalClient;
  /** The Modal app the sandboxes belong to, made when it is not there; default `deepwright`. */
  readonly app?: string;
  /** An image of a registry, or the id of one that Modal has (`im-…`); it has a POSIX shell and core utilities. Default `python:3.13-slim`. */
  readonly image?: string;
  /** What commands can reach; default none. */
  readonly network?: VendorNetwork;
  /** Seconds after which Modal ends a sandbox in any case, at most 24 hours; default 24 hours. */
  readonly lifetime?: number;
  /** Seconds without a command after which Modal ends a sandbox, when the lease has no `ttl`; default 1,200. */
  readonly idleTimeout?: number;
  /** Seconds a creation may take, the first build of an image included; default 600. */
  readonly openTimeout?: number;
  /** Tags of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What else Modal takes: cpu, memoryMiB, gpu, volumes, secrets, regions, … */
  readonly create?: Omit<
    SandboxCreateParams,
    | "timeoutMs"
    | "idleTimeoutMs"
    | "blockNetwork"
    | "outboundDomainAllowlist"
    | "tags"
    | "env"
    | "workdir"
    | "name"
  >;
}

/** A sandbox its owner made: it is used, and never ended by us. */
export interface ModalHandleOptions extends ModalCommandOptions {
  readonly sandbox: Sandbox;
}

type Settled = "app" | "image" | "network" | "lifetime" | "idleTimeout" | "openTimeout" | "workingDirectory";

export type ModalSettings = Omit<ModalSandboxOptions, Settled> & Required<Pick<ModalSandboxOptions, Settled>>;

const DAY = 86_400;

export function modalSettings(options: ModalSandboxOptions): ModalSettings {
  const { app = "deepwright", image = "python:3.13-slim", lifetime = DAY } = options;
  checkSeconds("lifetime", lifetime, DAY);
  checkSeconds("idleTimeout", options.idleTimeout ?? 1200, DAY);
  checkSeconds("openTimeout", options.openTimeout ?? 600, DAY);
  return {
    ...options,
    app,
    image,
    lifetime,
    network: checkNetwork(options.network ?? "none"),
    idleTimeout: options.idleTimeout ?? 1200,
    openTimeout: options.openTimeout ?? 600,
    workingDirectory: checkDirectory(options.workingDirectory ?? "/workspace"),
  };
}
