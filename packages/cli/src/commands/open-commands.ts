/** Opens what runs the commands of a run. */
import { basename, dirname, join } from "node:path";
import { type BackendProtocol, ConfigurationError, SandboxError } from "deepwright";
import { CommandError, usageError } from "../command-error.ts";
import type { Commands } from "./commands.ts";
import { containerWords } from "./container-words.ts";
import { isCloud, type SandboxKind, type SandboxOptions } from "./sandbox-kind.ts";

export interface CommandsRequest extends SandboxOptions {
  /** Its real path. */
  readonly directory: string;
  /** The files of the directory, as the agent gets them. */
  readonly files: BackendProtocol;
  /** Files of the directory that commands must not change, relative to it: MCP servers run them. */
  readonly controlPaths?: readonly string[];
  readonly threadId: string;
  /** The thread can be gone on with: a sandbox with files of its own is kept for it. */
  readonly isKept: boolean;
  readonly signal: AbortSignal;
  /** Called with what takes long. */
  readonly onWait: (words: string) => void;
}

/** Why there are none, in one line. */
export interface NoCommands {
  readonly why: string;
}

/** Without the default sandbox the run continues without commands; a sandbox named by an option must open. */
export async function openCommands(request: CommandsRequest): Promise<Commands | NoCommands | undefined> {
  if (request.kind === "off") return undefined;
  try {
    return await opened(request);
  } catch (error) {
    if (error instanceof ConfigurationError && request.hosts.length > 0)
      throw usageError(`--allow-host is not valid: ${error.message}`);
    if (!SandboxError.isInstance(error)) throw error;
    const words =
      request.kind === "docker" ? containerWords(error.message, request.directory) : error.message;
    if (!request.isAskedFor) return { why: `No commands in this run: ${words}` };
    throw new CommandError(`The sandbox cannot be opened: ${words}`, { cause: error });
  }
}

async function opened(request: CommandsRequest): Promise<Commands> {
  const { kind } = request;
  if (kind === "none") return unisolated(request);
  if (kind === "os") return inOs(request);
  if (kind === "docker") return inDocker(request);
  return inCloud(request);
}

const SAME_DIRECTORY =
  "Commands start in the directory that file paths call `/`: in a command, write `./a/b` for the file `/a/b`.";

async function unisolated({ kind, directory }: CommandsRequest): Promise<Commands> {
  const { LocalShellBackend } = await import("deepwright");
  const shell = new LocalShellBackend({ rootDir: directory, virtualMode: true });
  return {
    kind,
    id: shell.id,
    execute: (command, options) => shell.execute(command, options),
    note: SAME_DIRECTORY,
    reach: "It runs as you, with no isolation.",
    line: "Commands: NOT ISOLATED (--sandbox none). They can read, change and send everything that you can.",
    isWarning: true,
    close: () => shell.close(),
  };
}

async function inOs(request: CommandsRequest): Promise<Commands> {
  const { kind, directory, files, controlPaths = [], hosts, threadId, signal } = request;
  const [{ createSandbox }, { osSandbox }] = await Promise.all([
    import("@deepwright/sandboxes"),
    import("@deepwright/sandboxes/os"),
  ]);
  const network = hosts.length > 0 ? `only ${hosts.join(", ")}` : "no network";
  const note = `${SAME_DIRECTORY} They can change that directory and /tmp only, and reach ${network}.`;
  const egress = hosts.length > 0 ? { egress: { allow: hosts } } : {};
  const source = createSandbox({
    provider: osSandbox({
      rootDir: directory,
      files,
      controlPaths,
      commandNote: note,
      ...nodeOfRun(),
      ...egress,
    }),
  });
  const { sandbox, release } = await source.lease(threadId, { signal });
  return {
    kind,
    id: sandbox.id,
    execute: async (command, options) => sandbox.execute(command, options),
    note,
    reach: `It runs in a sandbox: it can change only this directory, and reaches ${network}.`,
    line: `Commands: in a sandbox (they change only this directory and reach ${network})`,
    backend: source,
    close: () => release(),
  };
}

/**
 * The Node this program runs on, for commands, where it is not among the system's programs: version managers have it
 * below the home, in a directory of its own. Any other place may hold more than programs, and stays invisible.
 */
export function nodeOfRun(program = process.execPath): {
  readonly visible?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} {
  const [home, name] = [dirname(dirname(program)), basename(dirname(dirname(program)))];
  if (home.startsWith("/usr") || !/^(node-?)?v?\d+(\.\d+)*/.test(name)) return {};
  return { visible: [home], env: { PATH: `${join(home, "bin")}:${SYSTEM_PATH}` } };
}

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

async function inDocker(request: CommandsRequest): Promise<Commands> {
  const { kind, image, directory, controlPaths = [], onWait, signal } = request;
  const [{ createSandbox }, { dockerSandbox }] = await Promise.all([
    import("@deepwright/sandboxes"),
    import("@deepwright/sandboxes/docker"),
  ]);
  const from = image === undefined ? "" : ` of ${image}`;
  let isTold = false;
  const onPull = (): void => {
    if (!isTold) onWait("Pulling the image; this may take minutes.");
    isTold = true;
  };
  const source = createSandbox({
    provider: dockerSandbox({
      workspace: { directory, controlPaths },
      ...(image === undefined ? {} : { image }),
      onPull,
    }),
  });
  const { sandbox, release } = await source.lease(null, { signal });
  return {
    kind,
    id: sandbox.id,
    execute: async (command, options) => sandbox.execute(command, options),
    note: `${SAME_DIRECTORY} They run in a container without network; changes outside that directory end with the run.`,
    reach: `It runs in a container${from}: on this machine it can change only this directory, and it reaches no network.`,
    line: `Commands: in a container${from}, with this directory as its /workspace (no network)`,
    close: () => release(),
  };
}

/** Seconds without use after which a sandbox that is kept for its thread ends. */
const KEPT_SECONDS = 3600;

/** Files and commands are there, and the directory is not. */
async function inCloud({ kind, threadId, isKept, signal }: CommandsRequest): Promise<Commands> {
  if (!isCloud(kind)) throw new Error(`No provider for ${kind satisfies never | SandboxKind}.`);
  const { createSandbox } = await import("@deepwright/sandboxes");
  const source = createSandbox({ provider: kind, ttl: KEPT_SECONDS });
  const { sandbox, release } = await source.lease(threadId, { signal });
  const until = isKept
    ? "they stay for an hour without use, and --thread continues with them"
    : "they end with the run";
  return {
    kind,
    id: sandbox.id,
    execute: async (command, options) => sandbox.execute(command, options),
    note: (sandbox as { readonly commandNote?: string }).commandNote ?? "",
    reach: `It runs in a sandbox of ${kind}.`,
    line: `Commands and files: in a sandbox of ${kind}; this directory is not copied there (${until})`,
    backend: source,
    isElsewhere: true,
    close: () => release({ keep: isKept }),
  };
}
