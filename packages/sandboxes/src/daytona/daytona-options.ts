/** What a user says about sandboxes at Daytona, and what is said by nobody. */
import type {
  CreateSandboxFromImageParams,
  CreateSandboxFromSnapshotParams,
  Daytona,
  Sandbox,
} from "@daytonaio/sdk";
import { ConfigurationError } from "deepwright";
import { checkDirectory, checkSeconds } from "../remote/checked-options.ts";
import { checkNetwork, type VendorNetwork } from "../remote/vendor-network.ts";

export interface DaytonaCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/home/daytona`. */
  readonly workingDirectory?: string;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
}

export interface DaytonaSandboxOptions extends DaytonaCommandOptions {
  /** Default: DAYTONA_API_KEY of this process; a `.env` file is not asked. */
  readonly apiKey?: string;
  /** Default: DAYTONA_API_URL of this process, else Daytona's own. */
  readonly apiUrl?: string;
  /** The region; default: that of the organization. */
  readonly target?: string;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: Daytona;
  /** A snapshot Daytona has, with a POSIX shell and core utilities; default Daytona's own. Not with `image`. */
  readonly snapshot?: string;
  /** An image of a registry, which Daytona builds a snapshot of. */
  readonly image?: string;
  /** What commands can reach; default none. */
  readonly network?: VendorNetwork;
  /** Seconds without use after which Daytona stops a sandbox; it is started again when it is needed. Whole minutes; default 900. */
  readonly idleTimeout?: number;
  /** Seconds a creation or a start may take; default 300. */
  readonly openTimeout?: number;
  /** Labels of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What else Daytona takes: resources, volumes, user, language, … */
  readonly create?: Omit<CreateSandboxFromSnapshotParams & CreateSandboxFromImageParams, OwnParameters>;
}

/** A sandbox its owner made: it is used, and never stopped by us. */
export interface DaytonaHandleOptions extends DaytonaCommandOptions {
  readonly sandbox: Sandbox;
}

type OwnParameters =
  | "snapshot"
  | "image"
  | "labels"
  | "envVars"
  | "autoStopInterval"
  | "autoPauseInterval"
  | "autoDeleteInterval"
  | "ephemeral"
  | "networkBlockAll"
  | "networkAllowList"
  | "domainAllowList";

type Settled = "network" | "idleTimeout" | "openTimeout" | "workingDirectory";

export type DaytonaSettings = Omit<DaytonaSandboxOptions, Settled> &
  Required<Pick<DaytonaSandboxOptions, Settled>>;

const DAY = 86_400;

export function daytonaSettings(options: DaytonaSandboxOptions): DaytonaSettings {
  const { idleTimeout = 900, openTimeout = 300 } = options;
  checkSeconds("idleTimeout", idleTimeout, 30 * DAY);
  checkSeconds("openTimeout", openTimeout, DAY);
  if (options.image !== undefined && options.snapshot !== undefined)
    throw new ConfigurationError("INVALID_OPTION", "image and snapshot are two ways to say the same.", {
      hint: "Leave one of them out.",
    });
  return {
    ...options,
    idleTimeout,
    openTimeout,
    network: checkNetwork(options.network ?? "none"),
    workingDirectory: daytonaDirectory(options),
  };
}

export function daytonaDirectory({ workingDirectory }: DaytonaCommandOptions): string {
  return checkDirectory(workingDirectory ?? "/home/daytona");
}
