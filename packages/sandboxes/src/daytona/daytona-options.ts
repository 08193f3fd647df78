/** Options of sandboxes at Daytona, and their defaults. */
import type {
  CreateSandboxFromImageParams,
  CreateSandboxFromSnapshotParams,
  Daytona,
  Sandbox,
} from "@daytonaio/sdk";
import { ConfigurationError } from "deepwright";
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

export interface DaytonaCommandOptions extends CommandOptions {
  /** Default `/home/daytona`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
}

export interface DaytonaSandboxOptions extends DaytonaCommandOptions {
  /** Default: DAYTONA_API_KEY of this process; a `.env` file is not asked. */
  readonly apiKey?: string | null;
  /** Default: DAYTONA_API_URL of this process, else Daytona's own. */
  readonly apiUrl?: string | null;
  /** The region; default: the organization's. */
  readonly target?: string | null;
  /** A client that is used instead of one made of the above; its owner keeps it. */
  readonly client?: Daytona | null;
  /** A snapshot Daytona has, with a POSIX shell and core utilities; default Daytona's own. Not with `image`. */
  readonly snapshot?: string | null;
  /** An image of a registry, which Daytona builds a snapshot of. */
  readonly image?: string | null;
  /** Network that commands can reach; default none. */
  readonly network?: VendorNetwork | null;
  /** Seconds without use after which Daytona stops a sandbox; it is started again when it is needed. Whole minutes; default 900. */
  readonly idleTimeout?: number | null;
  /** Seconds a creation or a start may take; default 300. */
  readonly openTimeout?: number | null;
  /** Labels of the sandboxes, beside our own. */
  readonly labels?: Readonly<Record<string, string>> | null;
  /** Further parameters of Daytona: resources, volumes, user, language, … */
  readonly create?: Omit<
    CreateSandboxFromSnapshotParams & CreateSandboxFromImageParams,
    OwnParameters
  > | null;
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

export type DaytonaSettings = Settings<DaytonaSandboxOptions, Settled>;

export type DaytonaHandle = HandleSettings<DaytonaHandleOptions>;

const DIRECTORY = "/home/daytona";

const RULES: OptionRules<DaytonaSandboxOptions> = {
  of: "daytonaSandbox",
  kinds: {
    ...COMMAND_KINDS,
    apiKey: "text",
    apiUrl: "text",
    target: "text",
    client: "object",
    snapshot: "text",
    image: "text",
    network: "any",
    idleTimeout: "seconds",
    openTimeout: "seconds",
    labels: "texts",
    create: "object",
  },
  hints: VENDOR_HINTS,
};

export function daytonaSettings(given: DaytonaSandboxOptions | null): DaytonaSettings {
  const options = presentOptions(given, RULES);
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
    workingDirectory: directoryIn(options, DIRECTORY),
  };
}

export function daytonaHandle(given: DaytonaHandleOptions): DaytonaHandle {
  return handleSettings(given, RULES.of, DIRECTORY);
}
