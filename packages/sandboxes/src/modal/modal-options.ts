/** Options of sandboxes at Modal, and their defaults. */
import type { ModalClient, Sandbox, SandboxCreateParams } from "modal";
import {
  COMMAND_KINDS,
  checkSeconds,
  type OptionRules,
  presentOptions,
  VENDOR_HINTS,
} from "../checked-options.ts";
import { checkNetwork, type VendorNetwork } from "../remote/vendor-network.ts";
import {
  type CommandOptions,
  DAY,
  directoryIn,
  type HandleSettings,
  handleSettings,
  type Settings,
} from "../remote/vendor-options.ts";

export interface ModalCommandOptions extends CommandOptions {
  /** Default `/workspace`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
}

export interface ModalSandboxOptions extends ModalCommandOptions {
  /** Default: MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or the profile of `~/.modal.toml`. */
  readonly tokenId?: string | null;
  readonly tokenSecret?: string | null;
  /** The Modal environment; default: the profile's. */
  readonly environment?: string | null;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: ModalClient | null;
  /** The Modal app the sandboxes belong to, made when it is not there; default `deepwright`. */
  readonly app?: string | null;
  /** An image of a registry, or the id of one that Modal has (`im-…`); it has a POSIX shell and core utilities. Default `python:3.13-slim`. */
  readonly image?: string | null;
  /** Network that commands can reach; default none. */
  readonly network?: VendorNetwork | null;
  /** Seconds after which Modal ends a sandbox in any case, at most 24 hours; default 24 hours. */
  readonly lifetime?: number | null;
  /** Seconds without a command after which Modal ends a sandbox, when the lease has no `ttl`; default 1,200. */
  readonly idleTimeout?: number | null;
  /** Seconds a creation may take, the first build of an image included; default 600. */
  readonly openTimeout?: number | null;
  /** Tags of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>> | null;
  /** Further parameters of Modal: cpu, memoryMiB, gpu, volumes, secrets, regions, … */
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
  > | null;
}

/** A sandbox its owner made: it is used, and never ended by us. */
export interface ModalHandleOptions extends ModalCommandOptions {
  readonly sandbox: Sandbox;
}

type Settled = "app" | "image" | "network" | "lifetime" | "idleTimeout" | "openTimeout" | "workingDirectory";

export type ModalSettings = Settings<ModalSandboxOptions, Settled>;

export type ModalHandle = HandleSettings<ModalHandleOptions>;

const DIRECTORY = "/workspace";

const RULES: OptionRules<ModalSandboxOptions> = {
  of: "modalSandbox",
  kinds: {
    ...COMMAND_KINDS,
    tokenId: "text",
    tokenSecret: "text",
    environment: "text",
    client: "object",
    app: "text",
    image: "text",
    network: "any",
    lifetime: "seconds",
    idleTimeout: "seconds",
    openTimeout: "seconds",
    labels: "texts",
    create: "object",
  },
  hints: VENDOR_HINTS,
};

export function modalSettings(given: ModalSandboxOptions | null): ModalSettings {
  const options = presentOptions(given, RULES);
  const { app = "deepwright", image = "python:3.13-slim", lifetime = DAY } = options;
  const { idleTimeout = 1200, openTimeout = 600 } = options;
  checkSeconds("lifetime", lifetime, DAY);
  checkSeconds("idleTimeout", idleTimeout, DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  return {
    ...options,
    app,
    image,
    lifetime,
    idleTimeout,
    openTimeout,
    network: checkNetwork(options.network ?? "none"),
    workingDirectory: directoryIn(options, DIRECTORY),
  };
}

export function modalHandle(given: ModalHandleOptions): ModalHandle {
  return handleSettings(given, RULES.of, DIRECTORY);
}
