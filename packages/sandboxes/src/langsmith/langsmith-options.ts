/** Options of sandboxes at LangSmith, and their defaults. */
import { ConfigurationError } from "deepwright";
import type { CreateSandboxOptions, Sandbox, SandboxClient } from "langsmith/sandbox";
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

export interface LangSmithCommandOptions extends CommandOptions {
  /** Default `/root`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
}

export interface LangSmithSandboxOptions extends LangSmithCommandOptions {
  /** Default: LANGSMITH_API_KEY or LANGCHAIN_API_KEY of this process. */
  readonly apiKey?: string | null;
  /** The sandbox API, with its `/v2/sandboxes`; default: LANGSMITH_ENDPOINT, else LangSmith's own. */
  readonly apiUrl?: string | null;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: SandboxClient | null;
  /** The id of a snapshot with a POSIX shell and core utilities; default LangSmith's own. Not with `snapshotName`. */
  readonly snapshot?: string | null;
  readonly snapshotName?: string | null;
  /** Network that commands can reach; default `open`: LangSmith cannot cut a sandbox off. A list holds for HTTPS. */
  readonly network?: Exclude<VendorNetwork, "none"> | null;
  /** Seconds a creation or a start may take; default 120. */
  readonly openTimeout?: number | null;
  /** Further parameters of LangSmith: processors, memory, mounts, credentials added by its proxy, … */
  readonly create?: Omit<CreateSandboxOptions, OwnParameters> | null;
}

/** A sandbox its owner made: it is used, and never stopped by us. */
export interface LangSmithHandleOptions extends LangSmithCommandOptions {
  readonly sandbox: Sandbox;
}

type OwnParameters =
  | "name"
  | "snapshotName"
  | "timeout"
  | "waitForReady"
  | "idleTtlSeconds"
  | "deleteAfterStopSeconds";

type Settled = "network" | "openTimeout" | "workingDirectory";

export type LangSmithSettings = Settings<LangSmithSandboxOptions, Settled>;

export type LangSmithHandle = HandleSettings<LangSmithHandleOptions>;

const DIRECTORY = "/root";

const RULES: OptionRules<LangSmithSandboxOptions> = {
  of: "langsmithSandbox",
  kinds: {
    ...COMMAND_KINDS,
    apiKey: "text",
    apiUrl: "text",
    client: "object",
    snapshot: "text",
    snapshotName: "text",
    network: "any",
    openTimeout: "seconds",
    create: "object",
  },
  hints: {
    ...VENDOR_HINTS,
    image: "LangSmith makes sandboxes of a `snapshot`.",
    idleTimeout: "When a sandbox ends is said by `ttl` of createSandbox.",
  },
};

export function langSmithSettings(given: LangSmithSandboxOptions | null): LangSmithSettings {
  const options = presentOptions(given, RULES);
  const { openTimeout = 120 } = options;
  checkSeconds("openTimeout", openTimeout, DAY);
  if (options.snapshot !== undefined && options.snapshotName !== undefined)
    throw new ConfigurationError(
      "INVALID_OPTION",
      "snapshot and snapshotName are two ways to say the same.",
      {
        hint: "Leave one of them out.",
      },
    );
  const network = checkNetwork(options.network ?? "open");
  if (network === "none")
    throw new ConfigurationError(
      "INVALID_OPTION",
      "network: LangSmith cannot cut a sandbox off the network.",
      {
        hint: 'Write network: { allow: ["pypi.org"] }, or take a provider that can: osSandbox, dockerSandbox.',
      },
    );
  return { ...options, openTimeout, network, workingDirectory: directoryIn(options, DIRECTORY) };
}

export function langSmithHandle(given: LangSmithHandleOptions): LangSmithHandle {
  return handleSettings(given, RULES.of, DIRECTORY);
}
