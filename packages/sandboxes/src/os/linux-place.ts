/** Sets a sandbox up on Linux: what its commands get to see, whose processes they are and what bounds them. */
import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { chmodSync, existsSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { quoted } from "../quoted.ts";
import { bubblewrapArguments, mountPlaces } from "./bubblewrap-arguments.ts";
import { makeCgroup } from "./cgroup.ts";
import { CommandStarter } from "./command-starter.ts";
import { guardOf } from "./control-guard.ts";
import { findProgram, isProgram } from "./find-program.ts";
import { hostMark, watchHost } from "./host-watch.ts";
import { limitWords } from "./limit-words.ts";
import type { Bind, SandboxNetwork } from "./network.ts";
import type { OpenPlace, PlaceRequest } from "./open-place.ts";
import type { OsSettings } from "./os-options.ts";
import { ALTERNATIVES, sandboxEnvironment, splitEnvironment } from "./policy.ts";
import { rootDevices } from "./root-devices.ts";
import { rootSkeleton } from "./root-skeleton.ts";
import { seccompFilter } from "./seccomp.ts";
import { LIMITS_REPORT, REPORT, SetUpReport } from "./set-up-report.ts";
import { stateSubdirectory } from "./state-directory.ts";

/** Where no control group can be made, processes of root's are counted by nobody but us. */
export function openLinuxPlace(request: PlaceRequest): OpenPlace {
  const { settings, state, lease, workspace, owner, network } = request;
  const bwrap = findBubblewrap(settings, workspace);
  const canBound = boundsMemory(bwrap);
  const bind: Bind = { from: workspace, to: settings.workingDirectory, isWritable: true };
  const visible = settings.visible.filter(existsSync);
  const shared = { workspace: bind, visible, binds: network?.binds ?? [] };
  const skeleton = rootSkeleton(state, mountPlaces(shared));
  const filter = filterFile(state);
  const env = splitEnvironment(sandboxEnvironment(settings.env, request.env, network?.env ?? {}));
  const isRoot = process.getuid?.() === 0 && owner === undefined;
  const devices = isRoot ? rootDevices(lease.path) : "/dev";
  watchHost();
  const args = bubblewrapArguments({
    ...shared,
    skeleton,
    temporary: lease.temporary,
    filter: filter === undefined ? undefined : 3,
    report: REPORT,
    devices,
    sharedMemory: canBound ? settings.limits.memoryMb * MEGABYTE : undefined,
    isRoot,
    env: env.inside,
    mark: hostMark(),
  });
  const cgroup = makeCgroup(lease.id, settings.limits);
  const emptyDevice = join(devices, "null");
  const entrances = isRoot ? (cgroup?.entrances ?? []) : [];
  const { words, wrap } = commandWrapper({ settings, bwrap, args, entrances, network });
  const starter = new CommandStarter({
    directory: lease.path,
    env: env.outside,
    owner,
    filter,
    emptyDevice,
    entrances,
    words,
  });
  const guard = guardOf({ settings, state, bind, canBound });
  return {
    skeleton,
    hasFilter: filter !== undefined,
    place: {
      lease,
      workspace,
      env: env.outside,
      owner,
      filter,
      emptyDevice,
      watched: cgroup === undefined ? settings.limits : undefined,
      admit: cgroup === undefined || isRoot ? undefined : (pid) => void cgroup.admit(pid),
      timeout: settings.timeout,
      maxOutputBytes: settings.maxOutputBytes,
      enter: (isTest) => {
        const { control, watch, leave } = guard.enter(isTest);
        return {
          launch: (shell) => ({
            ...owner,
            program: "/bin/sh",
            args: ["-c", entering(entrances, words), "sh", ...wrap(control, shell)],
          }),
          begin: (shell, pipe) => starter.begin(wrap(control, shell), pipe.path),
          openReport: () => openReport(lease.path),
          ...(watch === undefined ? {} : { watch }),
          leave,
        };
      },
    },
    tidy: () => guard.tidy(),
    close: async () => {
      guard.close();
      await starter.close();
      await cgroup?.end();
    },
  };
}

interface Wrapping {
  readonly settings: OsSettings;
  readonly bwrap: string;
  readonly args: readonly string[];
  /** Of the control group that is entered before the sandbox is set up; none: not so. */
  readonly entrances: readonly string[];
  readonly network: SandboxNetwork | undefined;
}

interface Wrapped {
  /** For the shell that becomes `bwrap`. */
  readonly words: string;
  wrap(control: readonly string[], shell: readonly string[]): readonly string[];
}

/**
 * A shell sets the limits. It does so in the sandbox, where processes are counted for it alone; root's are counted by
 * nobody, so they enter the control group first, before there is a sandbox.
 */
function commandWrapper({ settings, bwrap, args, entrances, network }: Wrapping): Wrapped {
  const isBounded = entrances.length > 0;
  // What leads to the network stays beside the command, which could use the descriptors it has.
  const reports = !isBounded && network === undefined;
  const words = limitWords(settings.limits, { countsProcesses: !isBounded, reports });
  const limited = isBounded ? [] : ["/bin/sh", "-c", words, "sh"];
  const before = [...(network?.argv ?? []), ...limited];
  const unreported = reports ? "" : `exec ${LIMITS_REPORT}>&- && `;
  return {
    words: unreported + (isBounded ? words : 'exec "$@"'),
    wrap: (control, shell) => [bwrap, ...args, ...control, "--", ...before, ...shell],
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

/** The filter as a file, made once for all processes; undefined where there is none for the architecture. */
function filterFile(state: string): string | undefined {
  const bytes = seccompFilter();
  if (bytes === undefined) return undefined;
  const name = `${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}.bpf`;
  const path = join(stateSubdirectory(state, "filters"), name);
  if (statSync(path, { throwIfNoEntry: false })?.size !== bytes.length) writeFileSync(path, bytes);
  // It says nothing that is not in these files, and is opened by whoever a command belongs to.
  chmodSync(path, 0o644);
  return path;
}

/** Never one from where the agent works: neither the workspace nor the directory of this process. */
function findBubblewrap(settings: OsSettings, workspace: string): string {
  const given = settings.bubblewrap;
  if (given !== undefined) {
    if (isProgram(given)) return realpathSync.native(given);
    throw missing(`'${given}' is not a program that can be run`);
  }
  const { path, unusable } = findProgram("bwrap", [workspace, process.cwd()]);
  if (path !== undefined) return path;
  throw missing(unusable === undefined ? "bubblewrap is not installed" : `'${unusable}' cannot be run`);
}

const MEGABYTE = 1024 * 1024;
const bounding = new Map<string, boolean>();

/** Whether files in memory can be bounded: since bubblewrap 0.7. */
function boundsMemory(bwrap: string): boolean {
  const known = bounding.get(bwrap);
  if (known !== undefined) return known;
  const { stdout } = spawnSync(bwrap, ["--help"], { cwd: "/", env: {}, encoding: "utf8", timeout: 5000 });
  const canBound = /^\s*--size /m.test(stdout ?? "");
  bounding.set(bwrap, canBound);
  return canBound;
}

function missing(reason: string): SandboxError {
  return new SandboxError(
    `The os sandbox cannot be used here: ${reason}. Install it (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap), or use ${ALTERNATIVES}.`,
    "SANDBOX_UNAVAILABLE",
  );
}
