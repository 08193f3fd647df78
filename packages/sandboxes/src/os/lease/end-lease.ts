/** Ends an unused sandbox of this machine, with processes that another process may have left in it. */
import { chmodSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { forgetLease, removeLease } from "./lease-directory.ts";

const ROUNDS = 20;

/** No error when it is gone. */
export async function endLease(state: string, id: string): Promise<void> {
  forgetLease(state, id);
  for (let round = 0; round < ROUNDS && killProcesses(id); round += 1) await pause(25);
  try {
    removeLease(state, id);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM" && code !== "ENOTEMPTY") throw error;
    openUp(join(state, "leases", id));
    removeLease(state, id);
  }
}

/** The programs that hold its sandboxes: all in them ends with them. True while there were some. */
function killProcesses(id: string): boolean {
  if (process.platform !== "linux") return false;
  let found = false;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const words = commandLine(name);
    if (!words.includes("--die-with-parent") || !words.some((word) => word.includes(`/leases/${id}/`)))
      continue;
    found = true;
    try {
      process.kill(Number(name), "SIGKILL");
    } catch {
      // The process has ended already.
    }
  }
  return found;
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Directories that were shut against us can be removed after that. Links are not followed. */
function openUp(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) openUp(join(path, name));
}
