/** Opens a sandbox on this machine, or one that is there already, and refuses where it would not hold. */
import { chmodSync, existsSync, lchownSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type BackendProtocol,
  CompositeBackend,
  canonicalPath,
  type ExecuteOptions,
  FilesystemBackend,
  guardBackend,
  PolicyBackend,
  SandboxError,
} from "deepwright";
import type { OpenedSandbox, OpenRequest, Sandbox } from "../provider.ts";
import { Commands, lostSandbox } from "./commands.ts";
import { endLease } from "./lease/end-lease.ts";
import {
  DEFAULT_TTL,
  type LeaseDirectory,
  makeLeaseDirectory,
  noteLeaseUse,
  type Owner,
  removeLease,
} from "./lease/lease-directory.ts";
import { stateSubdirectory } from "./lease/state-directory.ts";
import { programFingerprint } from "./linux/bubblewrap-program.ts";
import { prepareLinuxSandbox } from "./linux/linux-sandbox.ts";
import { prepareMacSandbox } from "./mac/mac-sandbox.ts";
import type { SandboxNetwork } from "./network/network.ts";
import type { OsSettings } from "./os-options.ts";
import { commandNote } from "./policy.ts";
import type { PreparedSandbox } from "./sandbox-set-up.ts";
import { judgeSelfTest, selfTestCommand, setUpFailure } from "./self-test.ts";
import { type Prepare, withCommands, withPreparation } from "./with-commands.ts";

/** Owner of a private directory when we are root: an id that no system gives to anybody. */
const NOBODY: Owner = { uid: 60_606, gid: 60_606 };

export async function openOsSandbox(
  settings: OsSettings,
  state: string,
  request: OpenRequest,
  existing?: LeaseDirectory,
): Promise<OpenedSandbox> {
  const rootDir = settings.rootDir === undefined ? undefined : realDirectory(settings.rootDir);
  const network = await openNetwork(settings, state);
  try {
    const opening = { settings, state, request, rootDir, network, existing };
    const candidates = owners(rootDir, existing);
    for (const [index, owner] of candidates.entries()) {
      try {
        return await openAs(opening, owner);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (index === candidates.length - 1) throw error;
      }
    }
    throw new Error("There is always somebody.");
  } catch (error) {
    await network?.close();
    throw error;
  }
}

interface Opening {
  readonly settings: OsSettings;
  readonly state: string;
  readonly request: OpenRequest;
  readonly rootDir: string | undefined;
  readonly network: SandboxNetwork | undefined;
  readonly existing: LeaseDirectory | undefined;
}

async function openAs(opening: Opening, owner: Owner | undefined): Promise<OpenedSandbox> {
  const { settings, state, request, rootDir, network, existing } = opening;
  const note = {
    key: request.key,
    ttl: request.ttl ?? DEFAULT_TTL,
    ...(rootDir === undefined ? {} : { rootDir }),
  };
  const lease = existing ?? makeLeaseDirectory(state, note, owner);
  const workspace = rootDir ?? lease.workspace;
  const prepare = process.platform === "darwin" ? prepareMacSandbox : prepareLinuxSandbox;
  let held: PreparedSandbox | undefined;
  try {
    if (network !== undefined) shareNetwork(network, owner ?? ourselves());
    held = prepare({ settings, state, lease, workspace, owner, env: request.env, network });
    const commands = new Commands(held.commandSettings);
    await selfTest(commands, held, settings, owner, request.signal);
    noteLeaseUse(lease);
    return opened(opening, lease, held, commands);
  } catch (error) {
    await held?.close();
    if (existing === undefined) removeLease(state, lease.id);
    throw error;
  }
}

function opened(
  { settings, state, network }: Opening,
  lease: LeaseDirectory,
  held: PreparedSandbox,
  commands: Commands,
): OpenedSandbox {
  let letGo: Promise<void> | undefined;
  const letGoWith = (error: SandboxError): Promise<void> => {
    letGo ??= commands.close(error).then(async () => {
      await held.close();
      await network?.close();
      noteLeaseUse(lease);
    });
    return letGo;
  };
  const base = fileBase(settings);
  const prepare: Prepare = (changed) => {
    commands.checkThere();
    return held.allowChanges?.(changed.flatMap((path) => below(base, path) ?? [])) ?? (() => {});
  };
  const files = filesOf(settings, lease, held, prepare);
  const added = withCommands(files.base, {
    id: lease.id,
    commandNote: commandNote(settings),
    noted: held.commandSettings.workspace,
    execute: (command, options) => commands.execute(command, relativeTo(base, options)),
    ...(settings.files === undefined ? { workingDirectory: settings.workingDirectory } : {}),
  });
  return {
    id: lease.id,
    sandbox:
      files.mounts === undefined ? added : (new CompositeBackend(added, files.mounts) as unknown as Sandbox),
    keepAlive: async () => {
      commands.checkThere();
    },
    detach: () => letGoWith(new SandboxError("The sandbox was released.", "NOT_INITIALIZED")),
    destroy: async () => {
      await letGoWith(lostSandbox());
      await endLease(state, lease.id);
    },
  };
}

/** Where the workspace is for file operations. */
function fileBase({ files, workingDirectory }: OsSettings): string {
  return files === undefined ? workingDirectory : (files.workingDirectory ?? "/");
}

/** Relative to the base; undefined where it is not below it. */
function below(base: string, path: string): string | undefined {
  const { path: canonical } = canonicalPath(path, { base });
  const start = base === "/" ? base : `${base}/`;
  return canonical?.startsWith(start) && canonical !== start ? canonical.slice(start.length) : undefined;
}

/** Paths that a command must not use, by where they are in the workspace. */
function relativeTo(base: string, options: ExecuteOptions = {}): ExecuteOptions {
  const { closed } = options;
  if (closed === undefined) return options;
  const inside = (paths: readonly string[]): string[] =>
    paths.map((path) => {
      const found = below(base, path);
      if (found !== undefined) return found;
      throw new SandboxError(
        `The command was not run: '${path}' is not below '${base}', so it cannot be closed.`,
        "INVALID_COMMAND",
      );
    });
  return { ...options, closed: { hidden: inside(closed.hidden), readOnly: inside(closed.readOnly) } };
}

interface FileParts {
  readonly base: BackendProtocol;
  readonly mounts: Readonly<Record<string, BackendProtocol>> | undefined;
}

/** Files are used on this machine, at the paths commands have for them: the workspace, `/tmp`, and what else can be read. */
function filesOf(
  settings: OsSettings,
  lease: LeaseDirectory,
  { commandSettings, skeleton }: PreparedSandbox,
  prepare: Prepare,
): FileParts {
  if (settings.files !== undefined)
    return { base: withPreparation(closed(settings.files, settings), prepare), mounts: undefined };
  const elsewhere = new FilesystemBackend({ rootDir: skeleton, virtualMode: true });
  const approve = settings.approve ?? (settings.protectsControlFiles ? null : () => true);
  const shared = { virtualMode: true, maxWriteSizeMb: settings.limits.fileSizeMb };
  const { controlPaths } = settings;
  const workspace = new FilesystemBackend({
    ...shared,
    rootDir: commandSettings.workspace,
    approve,
    controlPaths,
  });
  const outer: Prepare = (changed) => prepare(changed.map((path) => settings.workingDirectory + path));
  return {
    base: new PolicyBackend(elsewhere, { readOnly: true }),
    mounts: {
      [settings.workingDirectory]: withPreparation(closed(workspace, settings), outer),
      "/tmp": withPreparation(
        new FilesystemBackend({ ...shared, rootDir: lease.temporary, approve: () => true }),
        () => prepare([]),
      ),
    },
  };
}

/** Paths that are hidden or read-only for commands are so for file operations. */
function closed(files: BackendProtocol, { hidden, readOnly }: OsSettings): BackendProtocol {
  const start =
    files.workingDirectory === undefined || files.workingDirectory === "/" ? "" : files.workingDirectory;
  const paths = (names: readonly string[]): string[] => names.map((name) => `${start}/${patternOf(name)}`);
  const rules = [
    { operations: ["read", "write"] as const, paths: paths(hidden), mode: "deny" as const },
    { operations: ["write"] as const, paths: paths(readOnly), mode: "deny" as const },
  ];
  return guardBackend(
    files,
    rules.filter((rule) => rule.paths.length > 0),
  ) as BackendProtocol;
}

/** A pattern for the path itself and what is in it, whatever characters it has. */
function patternOf(path: string): string {
  const escaped = path.replace(/[*?[\]{}()\\]/g, "\\$&");
  return escaped === path ? path : `${escaped}/**`;
}

/**
 * Owners that commands may run as, the best first. Root's commands in somebody's directory are that somebody's; in a private
 * directory they are nobody's, and root's own only where that does not work.
 */
function owners(rootDir: string | undefined, existing: LeaseDirectory | undefined): (Owner | undefined)[] {
  if (process.getuid?.() !== 0) return [undefined];
  const directory = rootDir ?? existing?.workspace;
  if (directory === undefined) return [NOBODY, undefined];
  const { uid, gid } = statSync(directory);
  return [uid === 0 ? undefined : { uid, gid }];
}

function realDirectory(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Said below.
  }
  throw new SandboxError(`The directory of the sandbox is not there: '${path}'.`, "SANDBOX_UNAVAILABLE");
}

async function openNetwork({ egress }: OsSettings, state: string): Promise<SandboxNetwork | undefined> {
  if (egress === undefined) return undefined;
  const { openSandboxNetwork } = await import("./network/network.ts");
  return openSandboxNetwork(egress, { directory: stateSubdirectory(state, "egress") });
}

function ourselves(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** The set-up process needs access to the shared directory and to the socket. Others may have tried before. */
function shareNetwork({ binds }: SandboxNetwork, { uid, gid }: Owner): void {
  for (const { from } of binds) {
    const socket = join(from, "socket");
    if (!existsSync(socket)) continue;
    chmodSync(dirname(from), 0o711);
    lchownSync(socket, uid, gid);
  }
}

const tested = new Set<string>();

/** Once for a process, the settings that matter and the program file. */
async function selfTest(
  commands: Commands,
  { hasFilter, isNested = false, commandSettings, program }: PreparedSandbox,
  { rootDir, bubblewrap, egress, visible }: OsSettings,
  owner: Owner | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const settings = JSON.stringify([
    rootDir,
    bubblewrap,
    program?.fingerprint,
    egress !== undefined,
    visible,
    owner,
    commandSettings.watched === undefined,
    isNested,
  ]);
  if (tested.has(settings)) return;
  try {
    judgeSelfTest(await commands.test(selfTestCommand(), { timeout: 30, signal }), hasFilter);
  } catch (error) {
    throw SandboxError.isInstance(error) ? setUpFailure(error, isNested) : error;
  }
  // A program that was exchanged during the test is tested again by the next lease.
  if (program === undefined || programFingerprint(program.path) === program.fingerprint) tested.add(settings);
}
