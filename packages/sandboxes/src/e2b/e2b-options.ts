/** What a user says about sandboxes at E2B, and what is said by nobody. */
import type { Sandbox, SandboxOpts } from "e2b";
import { checkDirectory, checkSeconds } from "../remote/checked-options.ts";
import { checkNetwork, type VendorNetwork } from "../remote/vendor-network.ts";

export interface E2bCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/home/user`. */
  readonly workingDirectory?: string;
  /** Who commands run as, and files belong to; default: that of the template, `user`. */
  readonly user?: string;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
}

export interface E2bSandboxOptions extends E2bCommandOptions {
  /** Default: E2B_API_KEY. */
  readonly apiKey?: string;
  /** Default: E2B_DOMAIN, or `e2b.app`. */
  readonly domain?: string;
  /** Where the API is, for one of your own; default: E2B_API_URL, or by the domain. */
  readonly apiUrl?: string;
  /** Where sandboxes are, for one of your own; default: E2B_SANDBOX_URL, or by the domain. */
  readonly sandboxUrl?: string;
  /** The template, by name or id; it has a POSIX shell and core utilities. Default `base`. */
  readonly template?: string;
  /** What commands can reach; default none. */
  readonly network?: VendorNetwork;
  /** Seconds after its last use at which E2B ends a sandbox, when the lease has no `ttl`; default 1,200. */
  readonly idleTimeout?: number;
  /** Seconds a creation may take; default 120. */
  readonly openTimeout?: number;
  /** Metadata of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What else E2B takes: volumeMounts, iam, lifecycle, proxy, … */
  readonly create?: Omit<
    SandboxOpts,
    "timeoutMs" | "allowInternetAccess" | "network" | "metadata" | "envs" | "template" | "signal" | "mcp"
  >;
}

/** A sandbox its owner made: it is used, and never ended by us. */
export interface E2bHandleOptions extends E2bCommandOptions {
  readonly sandbox: Sandbox;
}

type Settled = "template" | "network" | "idleTimeout" | "openTimeout" | "workingDirectory";

export type E2bSettings = Omit<E2bSandboxOptions, Settled> & Required<Pick<E2bSandboxOptions, Settled>>;

const DAY = 86_400;

export function e2bSettings(options: E2bSandboxOptions): E2bSettings {
  const { template = "base", idleTimeout = 1200, openTimeout = 120 } = options;
  checkSeconds("idleTimeout", idleTimeout, DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  return {
    ...options,
    template,
    idleTimeout,
    openTimeout,
    network: checkNetwork(options.network ?? "none"),
    workingDirectory: e2bDirectory(options),
  };
}

export function e2bDirectory({ workingDirectory }: E2bCommandOptions): string {
  return checkDirectory(workingDirectory ?? "/home/user");
}
