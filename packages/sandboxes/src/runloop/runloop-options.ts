/** Options of devboxes at Runloop, and their defaults. */
import type { Devbox, RunloopSDK } from "@runloop/api-client";
import type { DevboxCreateParams } from "@runloop/api-client/resources/devboxes/devboxes";
import { ConfigurationError } from "deepwright";
import {
  COMMAND_KINDS,
  checkSeconds,
  type OptionRules,
  presentOptions,
  VENDOR_HINTS,
} from "../checked-options.ts";
import type { NetworkReach } from "../provider.ts";
import {
  type CommandOptions,
  DAY,
  directoryIn,
  type HandleSettings,
  handleSettings,
  type Settings,
} from "../remote/vendor-options.ts";

export interface RunloopCommandOptions extends CommandOptions {
  /** Default `/home/user`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
}

/** Runloop uses policies that exist beforehand; the caller names the reach of a policy. */
export type RunloopNetwork = "open" | { readonly policy: string; readonly reach: "none" | "allow-list" };

export interface RunloopSandboxOptions extends RunloopCommandOptions {
  /** Default: RUNLOOP_API_KEY of this process. */
  readonly apiKey?: string | null;
  /** Default: RUNLOOP_BASE_URL of this process, else Runloop's own. */
  readonly baseUrl?: string | null;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: RunloopSDK | null;
  /** The id or the name of a blueprint, or the id of a snapshot, with a POSIX shell and core utilities; one of them. Default Runloop's own image. */
  readonly blueprintId?: string | null;
  readonly blueprintName?: string | null;
  readonly snapshotId?: string | null;
  /** Network that commands can reach; default open: Runloop limits it by policies. */
  readonly network?: RunloopNetwork | null;
  /** Seconds without use after which a devbox ends, when the lease has no `ttl`; default 3600. */
  readonly idleTimeout?: number | null;
  /** Fate of an idle devbox; a suspended one keeps its files and is resumed. Default `shutdown`. */
  readonly onIdle?: "shutdown" | "suspend" | null;
  /** Seconds a creation or a resumption may take; default 300. */
  readonly openTimeout?: number | null;
  /** Metadata of the devboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>> | null;
  /** Further parameters of Runloop: name, mounts, gateways, secrets, launch_parameters, … */
  readonly create?: Omit<
    DevboxCreateParams,
    "blueprint_id" | "blueprint_name" | "snapshot_id" | "metadata" | "environment_variables"
  > | null;
}

/** A devbox its owner made: it is used, and never shut down by us. */
export interface RunloopHandleOptions extends RunloopCommandOptions {
  readonly sandbox: Devbox;
  /** Network that its commands can reach; default open. */
  readonly network?: "none" | "allow-list" | "open" | null;
}

type Settled = "network" | "idleTimeout" | "onIdle" | "openTimeout" | "workingDirectory";

export type RunloopSettings = Settings<RunloopSandboxOptions, Settled>;

export type RunloopHandle = HandleSettings<RunloopHandleOptions> & { readonly network: NetworkReach };

const WITH_POLICY =
  'Make a network policy and write network: { policy: "npol_…", reach: "none" }, or leave it out for an open network.';

const DIRECTORY = "/home/user";

const RULES: OptionRules<RunloopSandboxOptions> = {
  of: "runloopSandbox",
  kinds: {
    ...COMMAND_KINDS,
    apiKey: "text",
    baseUrl: "text",
    client: "object",
    blueprintId: "text",
    blueprintName: "text",
    snapshotId: "text",
    network: "any",
    idleTimeout: "seconds",
    onIdle: "any",
    openTimeout: "seconds",
    labels: "texts",
    create: "object",
  },
  hints: {
    ...VENDOR_HINTS,
    egress: `What commands may reach is said by \`network\`. ${WITH_POLICY}`,
    image: "Runloop makes devboxes of a blueprint: `blueprintId` or `blueprintName`.",
  },
};

export function runloopSettings(given: RunloopSandboxOptions | null): RunloopSettings {
  const options = presentOptions(given, RULES);
  const { idleTimeout = 3600, openTimeout = 300, onIdle = "shutdown", network = "open" } = options;
  checkSeconds("idleTimeout", idleTimeout, 2 * DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  const images = [options.blueprintId, options.blueprintName, options.snapshotId];
  if (images.filter((image) => image !== undefined).length > 1)
    throw new ConfigurationError(
      "INVALID_OPTION",
      "Of blueprintId, blueprintName and snapshotId one is enough.",
    );
  if (onIdle !== "shutdown" && onIdle !== "suspend")
    throw new ConfigurationError("INVALID_OPTION", 'onIdle: say "shutdown" or "suspend".');
  checkNetwork(network);
  return {
    ...options,
    idleTimeout,
    openTimeout,
    onIdle,
    network,
    workingDirectory: directoryIn(options, DIRECTORY),
  };
}

export function runloopHandle(given: RunloopHandleOptions): RunloopHandle {
  const options = handleSettings(given, RULES.of, DIRECTORY, { network: "any" });
  const { network = "open" } = options;
  if (!["none", "allow-list", "open"].includes(network))
    throw new ConfigurationError("INVALID_OPTION", 'network: say "none", "allow-list" or "open".', {
      hint: "It is the policy of the devbox that decides; this names its reach.",
    });
  return { ...options, network };
}

function checkNetwork(network: RunloopNetwork): void {
  if (network === "open") return;
  const { policy, reach, ...rest } = Object(network) as {
    readonly policy?: unknown;
    readonly reach?: unknown;
  };
  const isPolicy =
    typeof policy === "string" && policy !== "" && (reach === "none" || reach === "allow-list");
  if (isPolicy && Object.keys(rest).length === 0) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    "network: Runloop needs a network policy to limit commands.",
    { hint: WITH_POLICY },
  );
}
