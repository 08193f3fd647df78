/** Devices for a sandbox whose processes are root's: as the owner they could change the modes of the machine's own. */
import { closeSync, existsSync, mkdirSync, openSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { SandboxError } from "deepwright";
import { runProgramSync } from "deepwright/internal";
import { findProgram } from "../find-program.ts";
import { ALTERNATIVES } from "../policy.ts";
import { DEVICES } from "./root-skeleton.ts";

const NUMBERS: Readonly<Record<string, number>> = { null: 3, zero: 5, urandom: 9 };
const MEMORY_DEVICES = 1;
/** For machines whose temporary files are on a file system without devices, as systemd mounts it. */
const ELSEWHERE = "/var/lib/deepwright-os";

/** The directory with those of one sandbox, whose own directory it is in where devices can be there. */
export function rootDevices(leaseDirectory: string, elsewhere: string = ELSEWHERE): string {
  // Root of a user namespace is not their owner, and cannot make any.
  if (statSync("/dev/null").uid !== process.getuid?.()) return "/dev";
  const reasons: string[] = [];
  for (const directory of [join(leaseDirectory, "devices"), join(elsewhere, basename(leaseDirectory))]) {
    const reason = isUsable(directory) ? undefined : whyNotMade(directory);
    if (reason === undefined) return directory;
    reasons.push(`${directory}: ${reason}`);
  }
  throw new SandboxError(
    `The os sandbox cannot be used by root here: devices of its own cannot be made (${reasons.join("; ")}). Set stateDir to a directory on a file system that is mounted without nodev, and let this process make devices (CAP_MKNOD); or run it as another user, or on a directory that is another user's; or use ${ALTERNATIVES}.`,
    "SANDBOX_UNAVAILABLE",
  );
}

/** Removes the mounts outside of the sandbox's own directory. Safe where there are none. */
export function removeDevices(leaseId: string, elsewhere: string = ELSEWHERE): void {
  if (process.getuid?.() !== 0 || !existsSync(elsewhere)) return;
  rmSync(join(elsewhere, leaseId), { recursive: true, force: true });
  try {
    rmdirSync(elsewhere);
  } catch {
    // Others have theirs there.
  }
}

/** Undefined: they are made. What cannot be used is not left. */
function whyNotMade(directory: string): string | undefined {
  try {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true, mode: 0o711 });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
  const reason = makeDevices(directory) ?? (isUsable(directory) ? undefined : "mounted with nodev");
  if (reason !== undefined) rmSync(directory, { recursive: true, force: true });
  return reason;
}

function makeDevices(directory: string): string | undefined {
  const { path: mknod } = findProgram("mknod", [process.cwd()]);
  if (mknod === undefined) return "there is no mknod (coreutils)";
  for (const name of DEVICES) {
    const args = ["-m", "666", join(directory, name), "c", String(MEMORY_DEVICES), String(NUMBERS[name])];
    const { status, stderr } = runProgramSync(mknod, args, { cwd: "/", env: {}, timeoutMs: 5000 });
    if (status !== 0) return stderr.trim().split(": ").at(-1) || "mknod cannot be run";
  }
  return undefined;
}

/** Whether they are there and can be opened. */
function isUsable(directory: string): boolean {
  try {
    for (const name of DEVICES) closeSync(openSync(join(directory, name), "r+"));
    return true;
  } catch {
    return false;
  }
}
