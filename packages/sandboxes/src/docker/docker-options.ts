/** Reads and checks the options of `dockerSandbox`: null means absent, an unknown option is an error. */
import { isAbsolute } from "node:path";
import { type BaseSandboxOptions, ConfigurationError } from "deepwright";
import {
  checkDirectory,
  type OptionRules,
  type Present,
  presentOptions,
  sameHint,
} from "../checked-options.ts";
import type { EngineAddressOptions } from "./engine-address.ts";

/** null means absent. */
export interface DockerLimits {
  /** Bytes of memory, swap included; default 2 GiB. A process that needs more is killed. */
  readonly memory?: number | null;
  /** Processors, also parts of one; default 2. */
  readonly cpus?: number | null;
  /** Processes and threads at a time; default 512. */
  readonly pids?: number | null;
  /** Bytes a command may write into one file; default 2 GiB. */
  readonly fileSize?: number | null;
}

export interface DockerWorkspace {
  /**
   * An absolute directory of the engine's machine. It is `/workspace` in the container, and outlives it. Control files
   * at its top, such as `.git/hooks`, cannot be changed if they exist when the container is made.
   */
  readonly directory: string;
  /** Commands can read it and not change it; default false. */
  readonly readOnly?: boolean | null;
  /** More files that steer other programs, relative to the directory; they cannot be changed where they are there when the container is made. */
  readonly controlPaths?: readonly string[] | null;
}

/** null means absent. */
export interface DockerSandboxOptions extends EngineAddressOptions, BaseSandboxOptions {
  /** With a POSIX shell and the core utilities, GNU or busybox; default `node:22-bookworm-slim`. */
  readonly image?: string | null;
  /** Whether an image that is not there is pulled; default true. */
  readonly pull?: boolean | null;
  /** Called with lines about the progress of a pull. */
  readonly onPull?: ((progress: string) => void) | null;
  /** Default `none`: only the container's own loopback. `open`: everything that the engine's bridge reaches. */
  readonly network?: "none" | "open" | null;
  /** User that commands run as, in numbers: a uid, or `uid:gid`. Default `1000:1000`; with a workspace its owner, unless that is root. */
  readonly user?: string | number | null;
  readonly limits?: DockerLimits | null;
  /**
   * The image cannot be changed; `/workspace` and `/tmp` are then in memory, and count towards its limit; default
   * false.
   */
  readonly readOnlyRoot?: boolean | null;
  /** Absent: the container has a `/workspace` of its own, which ends with it. */
  readonly workspace?: DockerWorkspace | null;
  /** Variables of every command; variables of a lease are added. */
  readonly env?: Readonly<Record<string, string>> | null;
  readonly labels?: Readonly<Record<string, string>> | null;
  /** Seconds without use after which the container ends by itself, even if our process is gone; default 3600. */
  readonly ttl?: number | null;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
  /** Seconds the engine may take to answer a call; default 60. A pull may take ten times as long. */
  readonly engineTimeout?: number | null;
  /**
   * Id or name of a container that runs already: commands run in it, as its user unless `user` is given, and it is
   * never ended by us. Options about making one are refused beside it.
   */
  readonly container?: string | null;
  /** Absolute directory of the container where commands start and relative paths begin; default `/`. */
  readonly workingDirectory?: string | null;
}

/** Options that hold for a container we make. */
const FOR_MAKING = [
  "image",
  "pull",
  "onPull",
  "network",
  "limits",
  "readOnlyRoot",
  "workspace",
  "labels",
  "ttl",
] as const;

const RULES: OptionRules<DockerSandboxOptions> = {
  of: "dockerSandbox",
  kinds: {
    image: "text",
    pull: "boolean",
    onPull: "function",
    network: "any",
    user: "any",
    limits: "object",
    readOnlyRoot: "boolean",
    workspace: "object",
    env: "variables",
    labels: "texts",
    ttl: "seconds",
    timeout: "seconds",
    maxOutputBytes: "positive",
    engineTimeout: "seconds",
    container: "text",
    workingDirectory: "text",
    socketPath: "text",
    host: "text",
    fileTimeout: "seconds",
    ignoreFiles: "boolean",
  },
  hints: {
    egress:
      'A container has no network, or with `network: "open"` that of the engine; it keeps no list of hosts.',
    rootDir: "A directory of the engine's machine is given by workspace: { directory }.",
    ...sameHint(["memoryMb", "processes"], "What a container may use is said by `limits`."),
  },
};

const LIMIT_RULES: OptionRules<DockerLimits> = {
  of: "limits",
  within: "limits.",
  kinds: { memory: "positive", cpus: "positive", pids: "positive", fileSize: "positive" },
  hints: {
    memoryMb: "It is `memory` here, in bytes.",
    fileSizeMb: "It is `fileSize` here, in bytes.",
    processes: "It is `pids` here.",
  },
};

const WORKSPACE_RULES: OptionRules<DockerWorkspace> = {
  of: "workspace",
  within: "workspace.",
  kinds: { directory: "text", readOnly: "boolean", controlPaths: "paths" },
};

/** Options of a container with their defaults. */
export interface DockerSettings extends Omit<Present<DockerSandboxOptions>, "limits" | "workspace"> {
  readonly image: string;
  readonly network: "none" | "open";
  readonly limits: Required<Present<DockerLimits>>;
  readonly workspace: Present<DockerWorkspace> | undefined;
  /** Working directory of an existing container. */
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ttl: number;
  readonly timeout: number;
  readonly maxOutputBytes: number;
  readonly engineTimeout: number;
}

const GIB = 1024 ** 3;

export function dockerSettings(given: DockerSandboxOptions | null): DockerSettings {
  const options = presentOptions(given, RULES);
  checkContainer(options);
  checkUser(options.user);
  const { network = "none" } = options;
  if (network !== "none" && network !== "open")
    throw invalid(`network is '${String(network)}', and can be 'none' or 'open'.`);
  return {
    ...options,
    image: options.image ?? "node:22-bookworm-slim",
    network,
    limits: {
      memory: 2 * GIB,
      cpus: 2,
      pids: 512,
      fileSize: 2 * GIB,
      ...presentOptions(options.limits, LIMIT_RULES),
    },
    workspace: workspaceOf(options.workspace),
    workingDirectory: checkDirectory(options.workingDirectory ?? "/"),
    env: options.env ?? {},
    ttl: options.ttl ?? 3600,
    timeout: options.timeout ?? 120,
    maxOutputBytes: Math.ceil(options.maxOutputBytes ?? 100_000),
    engineTimeout: options.engineTimeout ?? 60,
  };
}

function checkContainer(options: Present<DockerSandboxOptions>): void {
  const { container, workingDirectory } = options;
  if (container === undefined) {
    if (workingDirectory !== undefined)
      throw invalid("workingDirectory is about a 'container' of yours; one that is made has /workspace.");
    return;
  }
  if (!/^[\w.-]+$/.test(container)) throw invalid(`container '${container}' is no id or name.`);
  const beside = FOR_MAKING.find((name) => options[name] !== undefined);
  if (beside !== undefined)
    throw invalid(`'${beside}' is about a container that is made, and 'container' names one that is there.`);
}

function checkUser(user: string | number | undefined): void {
  if (user !== undefined && !/^\d{1,10}(:\d{1,10})?$/.test(String(user)))
    throw invalid(`user is '${user}': give it in numbers, as in 1000 or '1000:1000'.`);
}

function workspaceOf(given: DockerWorkspace | undefined): Present<DockerWorkspace> | undefined {
  if (given === undefined) return undefined;
  const workspace = presentOptions(given, WORKSPACE_RULES);
  if (typeof workspace.directory !== "string" || !isAbsolute(workspace.directory))
    throw invalid("workspace.directory must be an absolute path.");
  for (const path of workspace.controlPaths ?? [])
    if (isAbsolute(path) || path.split("/").some((name) => ["", ".", ".."].includes(name)))
      throw invalid(`workspace.controlPaths must be paths in the directory, got "${path}".`);
  return workspace;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
