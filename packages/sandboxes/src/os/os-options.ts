/** Reads and checks what `osSandbox` is given: null means absent, an unknown option is an error. */
import { isAbsolute, resolve } from "node:path";
import { type BackendProtocol, ConfigurationError } from "deepwright";
import { type OptionRules, presentOptions } from "../checked-options.ts";
import type { EgressOptions } from "../egress/egress-options.ts";
import { checkedEgress } from "../egress/egress-policy.ts";

/** null means absent. */
export interface OsSandboxOptions {
  /** A directory of this machine that commands may change; it outlives the sandbox. Default: a private one, which goes with it. */
  readonly rootDir?: string | null;
  /** Where that directory is in the sandbox. Default `/workspace`. */
  readonly workingDirectory?: string | null;
  /**
   * Serves the file operations instead of the sandbox, by its own paths, for applications that have files on
   * `rootDir` already; commands run in the sandbox all the same. Needs `rootDir`.
   */
  readonly files?: BackendProtocol | null;
  /** Words for the model about how commands see the files; default: what `files` and `workingDirectory` say. */
  readonly commandNote?: string | null;
  /** Variables for commands, besides the few harmless ones they get anyway. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Absolute paths of this machine that commands may read where they are, besides `/usr` and what belongs to it. */
  readonly visible?: readonly string[] | null;
  /** Paths in `rootDir` that commands cannot change, relative to it; made impossible also where nothing is there yet. */
  readonly readOnly?: readonly string[] | null;
  /** Paths in `rootDir` whose content commands cannot see, relative to it. */
  readonly hidden?: readonly string[] | null;
  /** Whether commands may change files that steer other programs. Default: protect in `rootDir`, allow in a private directory. */
  readonly controlFiles?: "protect" | "allow" | null;
  /** More files that steer other programs, relative to `rootDir`, such as the scripts of MCP servers. They are protected where they are there. */
  readonly controlPaths?: readonly string[] | null;
  /** Asked before a file operation changes such a file; only `true` allows it, and absent: refused. */
  readonly approve?: ((path: string) => boolean | Promise<boolean>) | null;
  /** Hosts that commands may reach; absent: none. */
  readonly egress?: EgressOptions | null;
  readonly limits?: OsLimits | null;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
  /**
   * Whether commands may run without a filter of system calls on a processor that has none (all but x64 and arm64).
   * Default "required": the sandbox is refused there.
   */
  readonly seccomp?: "required" | "optional" | null;
  /** The absolute path of `bwrap`; default: found in `PATH`. */
  readonly bubblewrap?: string | null;
  /** Where private directories are; default: a directory of ours among the temporary files. */
  readonly stateDir?: string | null;
}

/** null means absent. */
export interface OsLimits {
  /** Megabytes of all commands of a sandbox together; default 4096. */
  readonly memoryMb?: number | null;
  /** Processes and threads; default 1024. */
  readonly processes?: number | null;
  /** Seconds of one process; default 3600. */
  readonly cpuSeconds?: number | null;
  /** Megabytes of one file; default 2048. */
  readonly fileSizeMb?: number | null;
  /** Open files of one process; default 4096. */
  readonly openFiles?: number | null;
}

export interface OsSettings {
  readonly rootDir: string | undefined;
  readonly workingDirectory: string;
  readonly files: BackendProtocol | undefined;
  readonly commandNote: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly visible: readonly string[];
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  readonly protectsControlFiles: boolean;
  readonly controlPaths: readonly string[];
  readonly approve: ((path: string) => boolean | Promise<boolean>) | undefined;
  readonly egress: EgressOptions | undefined;
  readonly limits: Limits;
  readonly timeout: number;
  readonly maxOutputBytes: number;
  readonly requiresFilter: boolean;
  readonly bubblewrap: string | undefined;
  readonly stateDir: string | undefined;
}

export interface Limits {
  readonly memoryMb: number;
  readonly processes: number;
  readonly cpuSeconds: number;
  readonly fileSizeMb: number;
  readonly openFiles: number;
}

const DEFAULT_LIMITS: Limits = {
  memoryMb: 4096,
  processes: 1024,
  cpuSeconds: 3600,
  fileSizeMb: 2048,
  openFiles: 4096,
};

const RULES: OptionRules<OsSandboxOptions> = {
  of: "osSandbox",
  kinds: {
    rootDir: "text",
    workingDirectory: "text",
    files: "object",
    commandNote: "text",
    env: "variables",
    visible: "paths",
    readOnly: "paths",
    hidden: "paths",
    controlFiles: "text",
    controlPaths: "paths",
    approve: "function",
    egress: "object",
    limits: "object",
    timeout: "seconds",
    maxOutputBytes: "positive",
    seccomp: "text",
    bubblewrap: "text",
    stateDir: "text",
  },
  hints: {
    network: 'What commands may reach is said by `egress`, as in egress: { allow: ["pypi.org"] }.',
    workspace: "A directory of this machine is given by `rootDir`.",
    image: "Commands see the programs of this machine; dockerSandbox takes an image.",
  },
};

const LIMIT_RULES: OptionRules<OsLimits> = {
  of: "limits",
  within: "limits.",
  kinds: {
    memoryMb: "positive",
    processes: "positive",
    cpuSeconds: "seconds",
    fileSizeMb: "positive",
    openFiles: "positive",
  },
  hints: {
    memory: "It is `memoryMb` here.",
    fileSize: "It is `fileSizeMb` here.",
    pids: "It is `processes` here.",
  },
};

const EGRESS_RULES: OptionRules<EgressOptions> = {
  of: "egress",
  within: "egress.",
  kinds: { allow: "any", inject: "list", onConnection: "function" },
};

export function osSettings(given: OsSandboxOptions | null): OsSettings {
  const options = presentOptions(given, RULES);
  const rootDir = options.rootDir === undefined ? undefined : resolve(options.rootDir);
  const { files, controlFiles, seccomp } = options;
  if (files !== undefined && rootDir === undefined)
    throw invalid("files needs rootDir: commands have to see the same directory.");
  if (controlFiles !== undefined && !["protect", "allow"].includes(controlFiles))
    throw invalid(`controlFiles must be "protect" or "allow", got "${controlFiles}".`);
  if (seccomp !== undefined && !["required", "optional"].includes(seccomp))
    throw invalid(`seccomp must be "required" or "optional", got "${seccomp}".`);
  return {
    rootDir,
    workingDirectory: checkedWorkingDirectory(options.workingDirectory ?? "/workspace"),
    files,
    commandNote: options.commandNote,
    env: options.env ?? {},
    visible: (options.visible ?? []).map((path) => absolute("visible", path)),
    readOnly: (options.readOnly ?? []).map((path) => inside("readOnly", path, rootDir)),
    hidden: (options.hidden ?? []).map((path) => inside("hidden", path, rootDir)),
    protectsControlFiles: controlFiles === undefined ? rootDir !== undefined : controlFiles === "protect",
    controlPaths: (options.controlPaths ?? []).map((path) => inside("controlPaths", path, rootDir)),
    approve: options.approve,
    egress: checkedEgress(options.egress && presentOptions(options.egress, EGRESS_RULES)),
    limits: limitsOf(options.limits),
    timeout: options.timeout ?? 120,
    maxOutputBytes: Math.ceil(options.maxOutputBytes ?? 100_000),
    requiresFilter: seccomp !== "optional",
    bubblewrap: options.bubblewrap === undefined ? undefined : absolute("bubblewrap", options.bubblewrap),
    stateDir: options.stateDir === undefined ? undefined : absolute("stateDir", options.stateDir),
  };
}

function limitsOf(given: OsLimits | undefined): Limits {
  const limits = presentOptions(given, LIMIT_RULES);
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value)) throw invalid(`limits.${name} must be a positive whole number.`);
  return { ...DEFAULT_LIMITS, ...limits };
}

/** Names that the sandbox needs for itself. */
const TAKEN = [
  "usr",
  "bin",
  "sbin",
  "lib",
  "lib32",
  "lib64",
  "libx32",
  "proc",
  "dev",
  "etc",
  "sys",
  "tmp",
  "var",
  "run",
  // A link into the directory for temporary files, where commands could exchange it.
  "home/agent",
];

function checkedWorkingDirectory(path: string): string {
  const names = path.split("/");
  const isClean =
    path.startsWith("/") && names.length > 1 && names.slice(1).every((name) => /^[\w.-]+$/.test(name));
  const isTaken = TAKEN.some((name) => `${path}/`.startsWith(`/${name}/`));
  if (!isClean || names.includes("..") || names.includes(".") || isTaken)
    throw invalid(`workingDirectory must be an absolute path outside /${TAKEN.join(", /")}, got "${path}".`);
  return path;
}

function absolute(name: string, path: string): string {
  if (!isAbsolute(path) || path.includes("\0"))
    throw invalid(`${name} must be an absolute path, got "${path}".`);
  return resolve(path);
}

/** Without a slash at either end. */
function inside(name: string, path: string, rootDir: string | undefined): string {
  if (rootDir === undefined)
    throw invalid(`${name} needs rootDir: a private directory has nothing in it yet.`);
  const names = path.split("/").filter((part) => part !== "" && part !== ".");
  if (names.length === 0 || names.includes("..") || /[\0\n]/.test(path) || isAbsolute(path))
    throw invalid(`${name} must be a path in rootDir, relative to it, got "${path}".`);
  return names.join("/");
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
