/** The command line of `bwrap`: which parts of this machine a command gets, and nothing by default. */
import { existsSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ControlMount } from "../control/control-mounts.ts";
import type { Bind } from "../network/network.ts";
import { HIDDEN_SYSTEM, SANDBOX_HOST, SANDBOX_ID } from "../policy.ts";
import { DEVICES, type MountPoint, systemMounts } from "./root-skeleton.ts";

/** A directory or file of this machine that is held open, and where it is. */
export interface HeldMount {
  /** The number of the descriptor in `bwrap`. */
  readonly number: number;
  readonly to: string;
  readonly isDirectory: boolean;
}

export interface BubblewrapPlan {
  /** The directory that is `/`. */
  readonly skeleton: string;
  readonly workspace: HeldMount;
  readonly visible: readonly HeldMount[];
  /** Directories of ours, into which no command can write. */
  readonly temporary: string;
  readonly binds: readonly Bind[];
  /** Where the devices are on this machine. */
  readonly devices: string;
  /** Bytes of memory that files in `/dev/shm` may take; undefined: this `bwrap` cannot bound them. */
  readonly sharedMemory: number | undefined;
  /** Whether the processes run as root of this machine. */
  readonly isRoot: boolean;
  /** Words that change nothing, by which the processes are known. */
  readonly mark: readonly string[];
}

/**
 * Arguments of the sandbox itself, the same for all its commands; `runArguments` follow.
 *
 * No name is looked up that a command could replace: directories of users are mounted by descriptor, and each mount
 * point is in the skeleton.
 */
export function bubblewrapArguments(plan: BubblewrapPlan): string[] {
  return [
    ...NAMESPACES,
    ...plan.mark,
    ...["--ro-bind", plan.skeleton, "/"],
    ...systemMounts().flatMap((path) => ["--ro-bind", path, path]),
    ...HIDDEN_SYSTEM.filter((path) => isRealDirectory(path)).flatMap((path) =>
      emptyMount(plan.sharedMemory !== undefined, path),
    ),
    ...["--proc", "/proc"],
    ...DEVICES.flatMap((name) => ["--dev-bind", join(plan.devices, name), `/dev/${name}`]),
    ...bounded(plan.sharedMemory),
    ...["--perms", "1777", "--tmpfs", "/dev/shm"],
    ...(plan.isRoot ? withoutRootsRights(plan.sharedMemory !== undefined) : []),
    ...["--bind", plan.temporary, "/tmp"],
    ...plan.visible.flatMap(({ number, to }) => ["--ro-bind-fd", String(number), to]),
    ...["--bind-fd", String(plan.workspace.number), plan.workspace.to],
    ...plan.binds.flatMap(({ from, to }) => ["--ro-bind", from, to]),
  ];
}

export interface RunPlan {
  /** The number of the descriptor the filter is read from; undefined: there is none. */
  readonly filter: number | undefined;
  /** The number of the descriptor that reports whether the command was run. The command does not get it. */
  readonly report: number;
  /** Variables that are set inside. */
  readonly env: Readonly<Record<string, string>>;
  /** Where commands start. */
  readonly directory: string;
}

/** How the program is run that comes next. */
export function runArguments({ filter, report, env, directory }: RunPlan): string[] {
  return [
    ...(filter === undefined ? [] : ["--seccomp", String(filter)]),
    ...["--json-status-fd", String(report)],
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", directory],
  ];
}

const UNPRIVILEGED = [
  ...["--unshare-user", "--die-with-parent", "--cap-drop", "ALL"],
  ...["--uid", String(SANDBOX_ID), "--gid", String(SANDBOX_ID)],
];

const NAMESPACES = [
  ...UNPRIVILEGED,
  ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...["--new-session", "--hostname", SANDBOX_HOST],
];

/** Where something is mounted that the root has to have a place for. */
export function mountPoints(plan: Pick<BubblewrapPlan, "workspace" | "visible" | "binds">): MountPoint[] {
  return [
    ...[plan.workspace, ...plan.visible].map(({ to, isDirectory }) => ({ path: to, isDirectory })),
    ...plan.binds.map(({ from, to }) => ({ path: to, isDirectory: isRealDirectory(from) })),
  ];
}

/**
 * A second sandbox, which `bwrap` sets up inside the first, with some more paths closed. `runArguments` follow.
 *
 * Commands of other sandboxes can replace these names while they are mounted. In here that only leads to paths that
 * every command has anyway. `canBound`: this `bwrap` can limit the memory of files in a mount.
 */
export function innerArguments(
  mounts: readonly ControlMount[],
  binds: readonly Bind[],
  { directory, canBound }: { readonly directory: string; readonly canBound: boolean },
): string[] {
  return [
    ...UNPRIVILEGED,
    ...["--dev-bind", "/", "/"],
    ...binds.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...mounts.flatMap(({ path, kind }) => {
      const at = join(directory, path);
      if (kind === "closed") return emptyMount(canBound, at);
      if (kind === "masked") return ["--ro-bind", "/dev/null", at];
      return [kind === "pin" ? "--bind" : "--ro-bind", at, at];
    }),
  ];
}

/** One page. */
const SMALLEST = 4096;

/** Its owner could change its mode and fill it, were it not so small. */
function emptyMount(canBound: boolean, path: string): string[] {
  return [...bounded(canBound ? SMALLEST : undefined), "--perms", "0555", "--tmpfs", path];
}

function bounded(bytes: number | undefined): string[] {
  return bytes === undefined ? [] : ["--size", String(bytes)];
}

/** Files of `/proc` that root may write without any capability: settings of other programs. */
const ROOTS_SETTINGS = ["sys", "sysrq-trigger"];
const ROOTS_DIRECTORIES = ["irq", "bus", "fs"];
/** Files that root may read without any capability and others may not; `kmsg` and `mtrr` ask for one when they are opened. */
const ROOTS_SECRETS = [
  ...["kcore", "kallsyms", "timer_list", "sched_debug", "slabinfo", "vmallocinfo"],
  ...["pagetypeinfo", "kpagecgroup", "kpagecount", "kpageflags", "iomem", "ioports"],
];
/** Anybody may read it, and is shown what is theirs. */
const KEYS = "keys";
const FOR_OTHERS = 0o004;

/**
 * A process of root's without capabilities is still the owner of what is root's, such as the settings of the kernel.
 * Each bind costs a command a tenth of a millisecond, so what others see too is left as it is.
 */
function withoutRootsRights(canBound: boolean): string[] {
  const there = (names: readonly string[]): string[] =>
    names.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  const secrets = there(ROOTS_SECRETS).filter((path) => (statSync(path).mode & FOR_OTHERS) === 0);
  return [
    ...there(ROOTS_DIRECTORIES).flatMap((path) => emptyMount(canBound, path)),
    ...there(ROOTS_SETTINGS).flatMap((path) => ["--ro-bind", path, path]),
    ...[...there([KEYS]), ...secrets].flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}

function isRealDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
