/** Bounds memory and processes of one command by looking at them from time to time, where there is no control group. */
import { readdirSync, readFileSync } from "node:fs";
import type { Limits } from "./os-options.ts";

/** Milliseconds between two looks. */
const INTERVAL = 200;
const PAGE = 4096;
const MEGABYTE = 1024 * 1024;

/** A watch over one command. */
export interface CommandWatch {
  /** Why the command was ended; undefined: it was not. */
  exceeded(): string | undefined;
  /** Further notes, once it has ended. */
  notices?(): readonly string[];
  stop(): void;
}

/** All processes below end with `pid`. */
export function watchUsage(pid: number, limits: Limits): CommandWatch {
  let reason: string | undefined;
  const timer = setInterval(() => {
    const { processes, bytes } = usageBelow(pid, limits.processes + 1);
    if (processes > limits.processes) reason = `more than ${limits.processes} processes`;
    else if (bytes > limits.memoryMb * MEGABYTE) reason = `more than ${limits.memoryMb} MB of memory`;
    if (reason === undefined) return;
    clearInterval(timer);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended already.
    }
  }, INTERVAL);
  timer.unref();
  return { exceeded: () => reason, stop: () => clearInterval(timer) };
}

/** Private memory: shared memory, and memory that can be read again from files, does not count. */
function usageBelow(root: number, most: number): { processes: number; bytes: number } {
  let bytes = 0;
  let more = 0;
  const found = [root];
  for (let at = 0; at < found.length && found.length <= most; at += 1) {
    const pid = found[at] as number;
    const [, resident = 0, shared = 0] = numbersIn(`/proc/${pid}/statm`);
    bytes += Math.max(0, resident - shared) * PAGE;
    const threads = threadsOf(pid);
    more += threads.length - 1;
    for (const thread of threads) found.push(...numbersIn(`/proc/${pid}/task/${thread}/children`));
  }
  return { processes: found.length - 1 + more, bytes };
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [String(pid)];
  }
}

function numbersIn(path: string): number[] {
  try {
    return readFileSync(path, "latin1").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The process itself and all that descend from it, parents first. */
export function processesBelow(root: number): number[] {
  const found = [root];
  for (let at = 0; at < found.length; at += 1) {
    const pid = found[at] as number;
    for (const thread of threadsOf(pid)) found.push(...numbersIn(`/proc/${pid}/task/${thread}/children`));
  }
  return found;
}
