/** A process by a name that no later one has: its id and when it was started. */
import { readFileSync } from "node:fs";

let own: string | undefined;

/** `<pid>.<start>`. */
export function ownProcess(): string {
  own ??= nameOf(process.pid) ?? `${process.pid}.0`;
  return own;
}

/** False for a name that is none. Where the system does not tell when a process was started, its id decides. */
export function isAlive(name: string): boolean {
  const pid = Number(name.split(".")[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (name.endsWith(".0")) return answers(pid);
  return nameOf(pid) === name;
}

function nameOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : `${pid}.${fields[19]}`;
  } catch {
    return undefined;
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
