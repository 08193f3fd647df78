/**
 * Names of processes by which others can see that one has ended.
 *
 * A name is `host:pid:start:machine:random`. `machine` stands for this boot of this machine and the namespace of process
 * ids, because a pid means nothing elsewhere. `start` tells a process from a later one with the same pid.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A new name for a holder of locks in this process. */
export function processName(): string {
  return [hostname(), process.pid, ownStart(), machine(), randomUUID()].join(":");
}

/**
 * Whether the process of that name has certainly ended. False where it cannot be known: it runs on another machine or in
 * another container, or this system has no `/proc`.
 */
export function isProcessGone(name: string): boolean {
  const [, id, start, home, random] = name.split(":");
  const pid = Number(id);
  if (random === undefined || home === "" || home !== machine() || !Number.isInteger(pid) || pid <= 0)
    return false;
  if (pid === process.pid) return start !== ownStart();
  if (!isAlive(pid)) return true;
  const now = startOf(pid);
  return now !== start && now !== UNKNOWN_START;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const UNKNOWN_START = "0";
const ENDED = "ended";

/** When a process began, in ticks since the boot; `ended` for one whose parent has not asked how, `0` where it is not known. */
export function startOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? ENDED : (fields[19] ?? UNKNOWN_START);
  } catch {
    return UNKNOWN_START;
  }
}

/** The namespace of process ids; `0` where there is none. */
export function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0";
  }
}

let start: string | undefined;

function ownStart(): string {
  start ??= startOf(process.pid);
  return start;
}

let mark: string | undefined;

/** Empty where the system does not tell one boot from another. */
function machine(): string {
  mark ??= machineMark();
  return mark;
}

function machineMark(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return createHash("sha256").update(`${boot} ${pidNamespace()}`).digest("hex").slice(0, 16);
  } catch {
    return "";
  }
}
