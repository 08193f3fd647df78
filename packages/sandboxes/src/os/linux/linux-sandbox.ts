/** Sets a sandbox up on Linux: what its commands get to see, whose processes they are and what bounds them. */
import { createHash, randomUUID } from "node:crypto";
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { quoted } from "../../quoted.ts";
import { CommandStarter } from "../command-starter.ts";
import { guardOf } from "../control/control-guard.ts";
import type { ControlMount } from "../control/control-mounts.ts";
import { WorkspaceRoot } from "../control/workspace-root.ts";
import { stateSubdirectory } from "../lease/state-directory.ts";
import { limitWords } from "../limit-words.ts";
import type { SandboxNetwork } from "../network/network.ts";
import type { OsSettings } from "../os-options.ts";
import { ALTERNATIVES, sandboxEnvironment, splitEnvironment } from "../policy.ts";
import type { PreparedSandbox, SetUpRequest } from "../sandbox-set-up.ts";
import { FIRST_PLACE, LIMITS_REPORT, REPORT, SetUpReport } from "../set-up-report.ts";
import {
  type BubblewrapPlan,
  bubblewrapArguments,
  innerArguments,
  mountPoints,
  runArguments,
} from "./bubblewrap-arguments.ts";
import { type Bubblewrap, findBubblewrap } from "./bubblewrap-program.ts";
import { makeCgroup } from "./cgroup.ts";
import { hostMark, watchHost } from "./host-watch.ts";
import { rootDevices } from "./root-devices.ts";
import { rootSkeleton } from "./root-skeleton.ts";
import { seccompFilter } from "./seccomp.ts";
import { openVisible, type VisibleMounts } from "./visible-mounts.ts";

/** Where no control group can be made, processes of root's are counted by nobody but us. */
export function prepareLinuxSandbox(request: SetUpRequest): PreparedSandbox {
  const bwrap = findBubblewrap(request.settings, request.workspace);
  const root = new WorkspaceRoot(request.workspace);
  const visible = openVisible(request.settings, bwrap.path);
  const closeAll = (): void => {
    root.close();
    visible.close();
  };
  try {
    return preparedSandbox(request, { bwrap, root, visible, closeAll });
  } catch (error) {
    closeAll();
    throw error;
  }
}

interface Held {
  readonly bwrap: Bubblewrap;
  readonly root: WorkspaceRoot;
  readonly visible: VisibleMounts;
  /** Safe twice. */
  readonly closeAll: () => void;
}

function preparedSandbox(request: SetUpRequest, { bwrap, root, visible, closeAll }: Held): PreparedSandbox {
  const { settings, state, lease, workspace, owner, network } = request;
  const guard = guardOf(settings, root);
  const plan = planFor(request, bwrap, visible);
  const filter = filterFile(state, settings);
  const env = splitEnvironment(sandboxEnvironment(settings.env, request.env, network?.env ?? {}));
  watchHost();
  const cgroup = makeCgroup(lease.id, settings.limits);
  const entrances = plan.isRoot ? (cgroup?.entrances ?? []) : [];
  const run = runArguments({
    filter: filter === undefined ? undefined : 3,
    report: REPORT,
    env: env.inside,
    directory: settings.workingDirectory,
  });
  const { words, wrap } = commandWrapper({ settings, bwrap, plan, run, visible, entrances, network });
  const emptyDevice = join(plan.devices, "null");
  const descriptors = [root.descriptor, ...visible.descriptors];
  const shared = { env: env.outside, owner, filter, emptyDevice, descriptors };
  const starter = new CommandStarter({ ...shared, directory: lease.path, entrances, words });
  return {
    skeleton: plan.skeleton,
    hasFilter: filter !== undefined,
    program: bwrap,
    isNested: guard.mayMount,
    commandSettings: {
      ...shared,
      lease,
      workspace,
      isThere: () => root.isThere,
      watched: cgroup === undefined ? settings.limits : undefined,
      admit: cgroup === undefined || plan.isRoot ? undefined : (pid) => void cgroup.admit(pid),
      timeout: settings.timeout,
      maxOutputBytes: settings.maxOutputBytes,
      enter: (isTest, closed) => {
        const { mounts, watch, leave } = guard.enter(isTest, closed);
        const isNested = mounts.length > 0 || (isTest && guard.mayMount);
        return {
          launch: (shell) => ({
            ...owner,
            program: "/bin/sh",
            args: ["-c", entering(entrances, words), "sh", ...wrap(mounts, isNested, shell)],
          }),
          begin: (shell, pipe) => starter.begin(wrap(mounts, isNested, shell), pipe.path),
          openReport: () => openReport(lease.path),
          ...(watch === undefined ? {} : { watch }),
          leave,
        };
      },
    },
    allowChanges: (paths) => guard.allowChanges(paths),
    close: async () => {
      await starter.close();
      await cgroup?.end();
      closeAll();
    },
  };
}

function planFor(
  { settings, state, lease, owner, network }: SetUpRequest,
  { canBound }: Bubblewrap,
  visible: VisibleMounts,
): BubblewrapPlan {
  const isRoot = process.getuid?.() === 0 && owner === undefined;
  const mounts = {
    workspace: { number: FIRST_PLACE, to: settings.workingDirectory, isDirectory: true },
    visible: visible.held,
    binds: network?.binds ?? [],
  };
  return {
    ...mounts,
    skeleton: rootSkeleton(state, mountPoints(mounts)),
    temporary: lease.temporary,
    devices: isRoot ? rootDevices(lease.path) : "/dev",
    sharedMemory: canBound ? settings.limits.memoryMb * MEGABYTE : undefined,
    isRoot,
    mark: hostMark(),
  };
}

const MEGABYTE = 1024 * 1024;

interface Wrapping {
  readonly settings: OsSettings;
  readonly bwrap: Bubblewrap;
  readonly plan: BubblewrapPlan;
  /** How the program that comes last is run. */
  readonly run: readonly string[];
  readonly visible: VisibleMounts;
  /** Files of the control group that is entered before the sandbox is set up; empty: none is entered. */
  readonly entrances: readonly string[];
  readonly network: SandboxNetwork | undefined;
}

interface Wrapped {
  /** For the shell that becomes `bwrap`. */
  readonly words: string;
  wrap(mounts: readonly ControlMount[], isNested: boolean, shell: readonly string[]): readonly string[];
}

/**
 * A shell sets the limits. It does so in the sandbox, where processes are counted for it alone; root's are counted by
 * nobody, so they enter the control group first, before there is a sandbox.
 */
function commandWrapper(wrapping: Wrapping): Wrapped {
  const { settings, bwrap, plan, run, visible, entrances, network } = wrapping;
  const isBounded = entrances.length > 0;
  // What leads to the network stays beside the command, which could use the descriptors it has.
  const reports = !isBounded && network === undefined;
  const words = limitWords(settings.limits, { countsProcesses: !isBounded, reports });
  const limited = isBounded ? [] : ["/bin/sh", "-c", words, "sh"];
  const before = [...(network?.argv ?? []), ...limited];
  const unreported = reports ? "" : `exec ${LIMITS_REPORT}>&- && `;
  const outer = [bwrap.path, ...bubblewrapArguments(plan)];
  const inner = { directory: settings.workingDirectory, canBound: bwrap.canBound };
  return {
    words: unreported + (isBounded ? words : 'exec "$@"'),
    wrap: (mounts, isNested, shell) => {
      const nested =
        isNested || visible.inside.length > 0
          ? ["--chdir", "/", "--", visible.bubblewrap, ...innerArguments(mounts, visible.inside, inner)]
          : [];
      return [...outer, ...nested, ...run, "--", ...before, ...shell];
    },
  };
}

function entering(entrances: readonly string[], words: string): string {
  return [...entrances.map((path) => `echo 0 > ${quoted(path)}`), words].join(" && ");
}

/** For one command that we start ourselves. */
function openReport(directory: string): SetUpReport {
  const path = join(directory, `report-${randomUUID()}`);
  try {
    return new SetUpReport(path, "", undefined);
  } finally {
    rmSync(path, { force: true });
  }
}

/** The filter as a file, made once for all processes; undefined where the processor has none and the caller accepts that. */
function filterFile(state: string, { requiresFilter }: OsSettings): string | undefined {
  const bytes = seccompFilter();
  if (bytes === undefined) {
    if (requiresFilter) throw withoutFilter();
    return undefined;
  }
  const name = `${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}.bpf`;
  const path = join(stateSubdirectory(state, "filters"), name);
  if (statSync(path, { throwIfNoEntry: false })?.size !== bytes.length) writeFileSync(path, bytes);
  // It says nothing that is not in these files, and is opened by the owner of the command.
  chmodSync(path, 0o644);
  return path;
}

function withoutFilter(): SandboxError {
  return new SandboxError(
    `The os sandbox is weaker than promised here: there is no filter of system calls (seccomp) for the processor '${process.arch}', only for x64 and arm64. To run commands without it, set seccomp: "optional" of osSandbox; or use ${ALTERNATIVES}.`,
    "SANDBOX_UNAVAILABLE",
  );
}
