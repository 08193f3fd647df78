/** Sets a sandbox up on Linux: what its commands get to see, whose processes they are and what bounds them. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { bubblewrapArguments, controlArguments, mountPlaces } from "./bubblewrap-arguments.ts";
import { type Cgroup, makeCgroup } from "./cgroup.ts";
import type { Launcher } from "./commands.ts";
import { controlMounts, findRepositories } from "./control-mounts.ts";
import { findProgram, isProgram } from "./find-program.ts";
import { hostMark, watchHost } from "./host-watch.ts";
import type { Owner } from "./lease-directory.ts";
import { limitWords } from "./limit-words.ts";
import type { Bind, SandboxNetwork } from "./network.ts";
import type { OpenPlace, PlaceRequest } from "./open-place.ts";
import type { OsSettings } from "./os-options.ts";
import { holdPlaceholders } from "./placeholders.ts";
import { ALTERNATIVES, sandboxEnvironment, splitEnvironment } from "./policy.ts";
import { rootDevices } from "./root-devices.ts";
import { rootSkeleton } from "./root-skeleton.ts";
import { seccompFilter } from "./seccomp.ts";
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
    devices,
    sharedMemory: canBound ? settings.limits.memoryMb * MEGABYTE : undefined,
    isRoot,
    env: env.inside,
    mark: hostMark(),
  });
  const cgroup = makeCgroup(lease.id, settings.limits);
  const wrap = commandWrapper({ settings, bwrap, args, cgroup: isRoot ? cgroup : undefined, owner, network });
  const guard = guardOf(request, bind, canBound);
  return {
    skeleton,
    hasFilter: filter !== undefined,
    place: {
      lease,
      workspace,
      env: env.outside,
      owner,
      filter,
      emptyDevice: join(devices, "null"),
      watched: cgroup === undefined ? settings.limits : undefined,
      admit: cgroup === undefined || isRoot ? undefined : (pid) => void cgroup.admit(pid),
      timeout: settings.timeout,
      maxOutputBytes: settings.maxOutputBytes,
      enter: () => {
        const { control, leave } = guard.enter();
        return { launch: (shell) => wrap(control, shell), leave };
      },
    },
    tidy: () => guard.tidy(),
    close: async () => {
      guard.close();
      await cgroup?.end();
    },
  };
}

interface Wrapping {
  readonly settings: OsSettings;
  readonly bwrap: string;
  readonly args: readonly string[];
  /** Entered before the sandbox is set up; absent: not so. */
  readonly cgroup: Cgroup | undefined;
  readonly owner: Owner | undefined;
  readonly network: SandboxNetwork | undefined;
}

/**
 * One shell sets the limits. It does so in the sandbox, where processes are counted for it alone; root's are counted by
 * nobody, so they enter the control group first, before there is a sandbox.
 */
function commandWrapper(
  given: Wrapping,
): (control: readonly string[], shell: readonly string[]) => ReturnType<Launcher> {
  const { settings, bwrap, args, cgroup, owner, network } = given;
  const prefix = network?.argv ?? [];
  if (cgroup === undefined) {
    const limited = ["/bin/sh", "-c", limitWords(settings.limits, { countsProcesses: true }), "sh"];
    return (control, shell) => ({
      ...owner,
      program: bwrap,
      args: [...args, ...control, "--", ...prefix, ...limited, ...shell],
    });
  }
  const before = cgroup.entrances.map((path) => `echo 0 > '${path}'`);
  const words = limitWords(settings.limits, { countsProcesses: false, before });
  return (control, shell) => ({
    program: "/bin/sh",
    args: ["-c", words, "sh", bwrap, ...args, ...control, "--", ...prefix, ...shell],
  });
}

interface Guard {
  enter(): { readonly control: readonly string[]; readonly leave: () => void };
  /** Takes away what no command needs. */
  tidy(): void;
  /** Safe twice. */
  close(): void;
}

function guardOf({ settings, state, workspace }: PlaceRequest, bind: Bind, canBound: boolean): Guard {
  const { protectsControlFiles, readOnly, hidden } = settings;
  const isNeeded = protectsControlFiles || readOnly.length > 0 || hidden.length > 0;
  if (!isNeeded) return { enter: () => ({ control: [], leave: () => {} }), tidy: () => {}, close: () => {} };
  const { placeholders, letGo } = holdPlaceholders(workspace, state);
  let isHeld = true;
  const repositories = protectsControlFiles ? findRepositories(workspace) : [];
  const isPlaceholder = (path: string): boolean => placeholders.has(path);
  const request = { rootDir: workspace, repositories, readOnly, hidden, protectsControlFiles, isPlaceholder };
  return {
    enter: () => {
      const leave = placeholders.use();
      try {
        const { mounts, missing } = controlMounts(request);
        const impossible = placeholders.make(missing);
        return {
          control: controlArguments(
            mounts.filter(({ path }) => !impossible.has(path)),
            bind,
            canBound,
          ),
          leave,
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
    tidy: () => placeholders.close(),
    close: () => {
      if (isHeld) letGo();
      isHeld = false;
    },
  };
}

/** The filter as a file, made once for all processes; undefined where there is none for the architecture. */
function filterFile(state: string): string | undefined {
  const bytes = seccompFilter();
  if (bytes === undefined) return undefined;
  const name = `${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}.bpf`;
  const path = join(stateSubdirectory(state, "filters"), name);
  if (statSync(path, { throwIfNoEntry: false })?.size !== bytes.length)
    writeFileSync(path, bytes, { mode: 0o600 });
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
