/** Devices for a sandbox whose processes are root's: as the owner they could change the modes of the machine's own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { findProgram } from "./find-program.ts";
import { ALTERNATIVES } from "./policy.ts";
import { DEVICES } from "./root-skeleton.ts";

const NUMBERS: Readonly<Record<string, number>> = { null: 3, zero: 5, urandom: 9 };
const MEMORY_DEVICES = 1;

/** The directory with those of one sandbox, in its own directory. */
export function rootDevices(leaseDirectory: string): string {
  const directory = join(leaseDirectory, "devices");
  if (existsSync(directory)) return directory;
  mkdirSync(directory);
  const { path: mknod } = findProgram("mknod", [process.cwd()]);
  try {
    if (mknod === undefined) throw new Error("there is no mknod (coreutils)");
    for (const name of DEVICES) {
      const args = ["-m", "666", join(directory, name), "c", String(MEMORY_DEVICES), String(NUMBERS[name])];
      execFileSync(mknod, args, { cwd: "/", env: {}, stdio: "pipe" });
    }
  } catch (error) {
    throw new SandboxError(
      `The os sandbox cannot be used by root here: devices of its own cannot be made (${(error as Error).message.trim()}). Run it as another user, or on a directory that is another user's, or use ${ALTERNATIVES}.`,
      "SANDBOX_UNAVAILABLE",
      error,
    );
  }
  return directory;
}
