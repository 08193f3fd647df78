import { isAbsolute } from "node:path";
import { type BaseSandboxOptions, ConfigurationError } from "deepwright";
import type { EngineAddressOptions } from "./engine-address.ts";

export interface DockerLimits {
  /** Bytes of memory, swap included; default 2 GiB. A process that wants more is killed. */
  readonly memory?: number;
  /** Processors, also parts of one; default 2. */
  readonly cpus?: number;
  /** Processes and threads at a time; default 512. */
  readonly pids?: number;
  /** Bytes a command may write into one file; default 2 GiB. */
  readonly fileSize?: number;
}

export interface DockerWorkspace {
  /**
   * An absolute directory of the engine's machine. It is `/workspace` in the container, and outlives it. What steers other
   * programs at its top, such as `.git/hooks`, cannot be changed where it is there when the container is made.
   */
  readonly directory: string;
  /** Commands can read it and not change it; default false. */
  readonly readOnly?: boolean;
}

export interface DockerSandboxOptions extends EngineAddressOptions, BaseSandboxOptions {
  /** With a POSIX shell and the core utilities, GNU or busybox; default `node:22-bookworm-slim`. */
  readonly image?: string;
  /** Whether an image that is not there is pulled; default true. */
  readonly pull?: boolean;
  /** Told in words how a pull goes on. */
  readonly onPull?: (progress: string) => void;
  /** Default `none`: there is no network but the container's own loopback. `open`: what the engine's bridge reaches. */
  readonly network?: "none" | "open";
  /** Who commands run as, in numbers: a uid, or `uid:gid`; default `1000:1000`, with a workspace its owner unless that is root. */
  readonly user?: string | number;
  readonly limits?: DockerLimits;
  /** The image cannot be changed; `/workspace` and `/tmp` are in memory then, and count as such; default false. */
  readonly readOnlyRoot?: boolean;
  /** Absent: the container has a `/workspace` of its own, which ends with it. */
  readonly workspace?: DockerWorkspace;
  /** What every command sees; what a lease gives comes on top. */
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds without use after which the container ends by itself, also when nobody is left to end it; default 3600. */
  readonly ttl?: number;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
  /** Seconds the engine may take to answer a call; default 60. A pull may take ten times as long. */
  readonly engineTimeout?: number;
  /**
   * Id or name of a container that runs already: commands run in it, as its user unless `user` is given, and it is
   * never ended by us. Options about making one are refused beside it.
   */
  readonly container?: string;
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

const OPTIONS: readonly string[] = [
  ...FOR_MAKING,
  "socketPath",
  "host",
  "fileTimeout",
  "ignoreFiles",
  "user",
  "env",
  "timeout",
  "maxOutputBytes",
  "engineTimeout",
  "container",
];

export interface DockerSettings extends DockerSandboxOptions {
  readonly image: string;
  readonly network: "none" | "open";
  readonly limits: Required<DockerLimits>;
  readonly env: Readonly<Record<string, string>>;
  readonly ttl: number;
  readonly timeout: number;
  readonly maxOutputBytes: number;
  readonly engineTimeout: number;
}

const GIB = 1024 ** 3;

export function dockerSettings(options: DockerSandboxOptions): DockerSettings {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new ConfigurationError("UNKNOWN_OPTION", `dockerSandbox has no option '${unknown}'.`, {
      hint: `It has ${[...OPTIONS].sort().join(", ")}.`,
    });
  checkContainer(options);
  checkUser(options.user);
  checkWorkspace(options.workspace);
  const { network = "none", limits = {} } = options;
  if (network !== "none" && network !== "open")
    throw invalid(`network is '${String(network)}', and can be 'none' or 'open'.`);
  return {
    ...options,
    image: options.image ?? "node:22-bookworm-slim",
    network,
    limits: {
      memory: positive("limits.memory", limits.memory) ?? 2 * GIB,
      cpus: positive("limits.cpus", limits.cpus) ?? 2,
      pids: positive("limits.pids", limits.pids) ?? 512,
      fileSize: positive("limits.fileSize", limits.fileSize) ?? 2 * GIB,
    },
    env: checkedVariables(options.env ?? {}),
    ttl: positive("ttl", options.ttl) ?? 3600,
    timeout: positive("timeout", options.timeout) ?? 120,
    maxOutputBytes: Math.floor(positive("maxOutputBytes", options.maxOutputBytes) ?? 100_000),
    engineTimeout: positive("engineTimeout", options.engineTimeout) ?? 60,
  };
}

function checkContainer(options: DockerSandboxOptions): void {
  if (options.container === undefined) return;
  if (!/^[\w.-]+$/.test(options.container))
    throw invalid(`container '${options.container}' is no id or name.`);
  const beside = FOR_MAKING.find((name) => options[name] !== undefined);
  if (beside !== undefined)
    throw invalid(`'${beside}' is about a container that is made, and 'container' names one that is there.`);
}

function checkUser(user: string | number | undefined): void {
  if (user !== undefined && !/^\d{1,10}(:\d{1,10})?$/.test(String(user)))
    throw invalid(`user is '${user}': give it in numbers, as in 1000 or '1000:1000'.`);
}

function checkWorkspace(workspace: DockerWorkspace | undefined): void {
  if (workspace === undefined) return;
  if (typeof workspace.directory !== "string" || !isAbsolute(workspace.directory))
    throw invalid("workspace.directory must be an absolute path.");
}

export function checkedVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env))
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || typeof value !== "string" || value.includes("\0"))
      throw invalid(`env: '${name}' is not a variable a command can be given.`);
  return env;
}

function positive(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (typeof value === "number" && value > 0)) return value;
  throw invalid(`${name} must be a positive number, got ${String(value)}.`);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
