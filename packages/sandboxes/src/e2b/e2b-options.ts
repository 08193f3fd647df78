/** What a user says about sandboxes at E2B, and what is said by nobody. */
import type { Sandbox, SandboxOpts } from "e2b";
import {
  COMMAND_KINDS,
  checkDirectory,
  checkSeconds,
  handleOptions,
  type OptionRules,
  type Present,
  presentOptions,
  VENDOR_HINTS,
} from "../checked-options.ts";
import { checkNetwork, type VendorNetwork } from "../remote/vendor-network.ts";

export interface E2bCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/home/user`. */
  readonly workingDirectory?: string | null;
  /** Who commands run as, and files belong to; default: that of the template, `user`. */
  readonly user?: string | null;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
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
  /** What commands can reach; default none. */
  readonly network?: VendorNetwork | null;
  /** Seconds after its last use at which E2B ends a sandbox, when the lease has no `ttl`; default 1,200. */
  readonly idleTimeout?: number | null;
  /** Seconds a creation may take; default 120. */
  readonly openTimeout?: number | null;
  /** Metadata of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>> | null;
  /** What else E2B takes: volumeMounts, iam, lifecycle, proxy, … */
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

export type E2bSettings = Present<Omit<E2bSandboxOptions, Settled>> &
  Required<Present<Pick<E2bSandboxOptions, Settled>>>;

export type E2bHandle = Present<E2bHandleOptions> & { readonly workingDirectory: string };

const HANDLE_KINDS = { ...COMMAND_KINDS, user: "text" } as const;

const RULES: OptionRules<E2bSandboxOptions> = {
  of: "e2bSandbox",
  kinds: {
    ...HANDLE_KINDS,
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

const DAY = 86_400;

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
    workingDirectory: e2bDirectory(options),
  };
}

export function e2bHandle(given: E2bHandleOptions): E2bHandle {
  const options = handleOptions(given, { of: RULES.of, kinds: HANDLE_KINDS });
  return { ...options, workingDirectory: e2bDirectory(options) };
}

function e2bDirectory({ workingDirectory }: E2bCommandOptions): string {
  return checkDirectory(workingDirectory ?? "/home/user");
}
