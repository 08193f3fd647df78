/** Options of sandboxes at E2B, and their defaults. */
import type { Sandbox, SandboxOpts } from "e2b";
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

export interface E2bCommandOptions extends CommandOptions {
  /** Default `/home/user`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
  /** User who runs commands and owns files; default: the template's, `user`. */
  readonly user?: string | null;
}

export interface E2bSandboxOptions extends E2bCommandOptions {
  /** Default: E2B_API_KEY. */
  readonly apiKey?: string | null;
  /** Default: E2B_DOMAIN, or `e2b.app`. */
  readonly domain?: string | null;
  /** Where the API is, for one of your own; default: E2B_API_URL, or by the domain. */
  readonly apiUrl?: string | null;
  /** Where sandboxes are, for one of your own; default: E2B_SANDBOX_URL, or by the domain. */
  readonly sandboxUrl?: string | null;
  /** The template, by name or id; it has a POSIX shell and core utilities. Default `base`. */
  readonly template?: string | null;
  /** Network that commands can reach; default none. */
  readonly network?: VendorNetwork | null;
  /** Seconds after its last use at which E2B ends a sandbox, when the lease has no `ttl`; default 1,200. */
  readonly idleTimeout?: number | null;
  /** Seconds a creation may take; default 120. */
  readonly openTimeout?: number | null;
  /** Metadata of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>> | null;
  /** Further parameters of E2B: volumeMounts, iam, lifecycle, proxy, … */
  readonly create?: Omit<
    SandboxOpts,
    "timeoutMs" | "allowInternetAccess" | "network" | "metadata" | "envs" | "template" | "signal" | "mcp"
  > | null;
}

/** A sandbox its owner made: it is used, and never ended by us. */
export interface E2bHandleOptions extends E2bCommandOptions {
  readonly sandbox: Sandbox;
}

type Settled = "template" | "network" | "idleTimeout" | "openTimeout" | "workingDirectory";

export type E2bSettings = Settings<E2bSandboxOptions, Settled>;

export type E2bHandle = HandleSettings<E2bHandleOptions>;

const DIRECTORY = "/home/user";

const RULES: OptionRules<E2bSandboxOptions> = {
  of: "e2bSandbox",
  kinds: {
    ...COMMAND_KINDS,
    user: "text",
    apiKey: "text",
    domain: "text",
    apiUrl: "text",
    sandboxUrl: "text",
    template: "text",
    network: "any",
    idleTimeout: "seconds",
    openTimeout: "seconds",
    labels: "texts",
    create: "object",
  },
  hints: { ...VENDOR_HINTS, image: "E2B makes sandboxes of a `template`." },
};

export function e2bSettings(given: E2bSandboxOptions | null): E2bSettings {
  const options = presentOptions(given, RULES);
  const { template = "base", idleTimeout = 1200, openTimeout = 120 } = options;
  checkSeconds("idleTimeout", idleTimeout, DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  return {
    ...options,
    template,
    idleTimeout,
    openTimeout,
    network: checkNetwork(options.network ?? "none"),
    workingDirectory: directoryIn(options, DIRECTORY),
  };
}

export function e2bHandle(given: E2bHandleOptions): E2bHandle {
  return handleSettings(given, RULES.of, DIRECTORY, { user: "text" });
}
