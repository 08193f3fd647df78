/** What a user says about devboxes at Runloop, and what is said by nobody. */
import type { Devbox, RunloopSDK } from "@runloop/api-client";
import type { DevboxCreateParams } from "@runloop/api-client/resources/devboxes/devboxes";
import { ConfigurationError } from "deepwright";
import { checkDirectory, checkSeconds } from "../remote/checked-options.ts";

export interface RunloopCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/home/user`. */
  readonly workingDirectory?: string;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
}

/** Runloop goes by policies that are made beforehand; what one allows is for its maker to say. */
export type RunloopNetwork = "open" | { readonly policy: string; readonly reach: "none" | "allow-list" };

export interface RunloopSandboxOptions extends RunloopCommandOptions {
  /** Default: RUNLOOP_API_KEY of this process. */
  readonly apiKey?: string;
  /** Default: RUNLOOP_BASE_URL of this process, else Runloop's own. */
  readonly baseUrl?: string;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: RunloopSDK;
  /** The id or the name of a blueprint, or the id of a snapshot, with a POSIX shell and core utilities; one of them. Default Runloop's own image. */
  readonly blueprintId?: string;
  readonly blueprintName?: string;
  readonly snapshotId?: string;
  /** What commands can reach; default open: Runloop has no switch for it, but policies. */
  readonly network?: RunloopNetwork;
  /** Seconds without use after which a devbox ends, when the lease has no `ttl`; default 3600. */
  readonly idleTimeout?: number;
  /** What happens to a devbox without use; one that is suspended keeps its files and is resumed. Default `shutdown`. */
  readonly onIdle?: "shutdown" | "suspend";
  /** Seconds a creation or a resumption may take; default 300. */
  readonly openTimeout?: number;
  /** Metadata of the devboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What else Runloop takes: name, mounts, gateways, secrets, launch_parameters, … */
  readonly create?: Omit<
    DevboxCreateParams,
    "blueprint_id" | "blueprint_name" | "snapshot_id" | "metadata" | "environment_variables"
  >;
}

/** A devbox its owner made: it is used, and never shut down by us. */
export interface RunloopHandleOptions extends RunloopCommandOptions {
  readonly sandbox: Devbox;
  /** What its commands can reach; default open. */
  readonly network?: "none" | "allow-list" | "open";
}

type Settled = "network" | "idleTimeout" | "onIdle" | "openTimeout" | "workingDirectory";

export type RunloopSettings = Omit<RunloopSandboxOptions, Settled> &
  Required<Pick<RunloopSandboxOptions, Settled>>;

const DAY = 86_400;

export function runloopSettings(options: RunloopSandboxOptions): RunloopSettings {
  const { idleTimeout = 3600, openTimeout = 300, onIdle = "shutdown", network = "open" } = options;
  checkSeconds("idleTimeout", idleTimeout, 2 * DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  const images = [options.blueprintId, options.blueprintName, options.snapshotId];
  if (images.filter((image) => image !== undefined).length > 1)
    throw new ConfigurationError(
      "INVALID_OPTION",
      "Of blueprintId, blueprintName and snapshotId one is enough.",
    );
  checkNetwork(network);
  return {
    ...options,
    idleTimeout,
    openTimeout,
    onIdle,
    network,
    workingDirectory: runloopDirectory(options),
  };
}

export function runloopDirectory({ workingDirectory }: RunloopCommandOptions): string {
  return checkDirectory(workingDirectory ?? "/home/user");
}

function checkNetwork(network: RunloopNetwork): void {
  if (network === "open") return;
  if (typeof network === "object" && network?.policy && ["none", "allow-list"].includes(network.reach))
    return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    "network: Runloop needs a network policy to limit commands.",
    {
      hint: 'Make one and write network: { policy: "npol_…", reach: "none" }, or leave it out for an open network.',
    },
  );
}
