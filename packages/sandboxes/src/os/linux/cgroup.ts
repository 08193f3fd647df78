/**
 * A control group of a sandbox: memory and processes of all its commands together, where this process may make one.
 *
 * Version 1 has a tree for each controller and lets a group be made below our own. In version 2 a group with processes
 * cannot have controlled children, so it is made beside ours. Groups of processes that are gone are removed.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive, ownProcess } from "../lease/live-process.ts";
import type { Limits } from "../os-options.ts";
import { processesBelow } from "../usage-watch.ts";

export interface Cgroup {
  /** A process that writes 0 to each of them is in the group, with all it starts; that may take it some milliseconds. */
  readonly entrances: readonly string[];
  /** Brings a process in that runs already, and all below it. */
  admit(pid: number): Promise<void>;
  /** Ends all that is in it, and removes it. Safe twice. */
  end(): Promise<void>;
}

const PREFIX = "deepwright-os.";
/** Milliseconds between two attempts to remove a group. */
const END_PAUSE = 20;
const END_ROUNDS = 50;
const ADMIT_ROUNDS = 20;
const MEGABYTE = 1024 * 1024;

/** Undefined where none can be made. */
export function makeCgroup(id: string, limits: Limits): Cgroup | undefined {
  const parents = controllerDirectories();
  if (parents === undefined) return undefined;
  const made: string[] = [];
  const name = `${PREFIX}${ownProcess()}.${id}`;
  try {
    for (const parent of new Set([parents.memory, parents.pids])) {
      sweep(parent);
      const directory = join(parent, name);
      mkdirSync(directory);
      made.push(directory);
    }
    limit(parents, name, limits);
    const entrances = made.map((directory) => join(directory, "cgroup.procs"));
    return { entrances, admit: (pid) => admitTree(pid, entrances), end: () => endAll(made) };
  } catch (error) {
    removeAll(made);
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    return undefined;
  }
}

/** Parents first: what they start after that is in the group by itself. */
async function admitTree(root: number, entrances: readonly string[]): Promise<void> {
  const known = new Set<number>();
  for (let round = 0; round < ADMIT_ROUNDS; round += 1) {
    const fresh = processesBelow(root).filter((pid) => !known.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      known.add(pid);
      // One that has ended needs no group.
      for (const entrance of entrances) await writeFile(entrance, String(pid)).catch(() => {});
    }
  }
}

interface Controllers {
  readonly version: 1 | 2;
  readonly memory: string;
  readonly pids: string;
}

function limit({ version, memory, pids }: Controllers, name: string, limits: Limits): void {
  const bytes = String(limits.memoryMb * MEGABYTE);
  writeFileSync(join(pids, name, "pids.max"), String(limits.processes));
  writeFileSync(join(memory, name, version === 1 ? "memory.limit_in_bytes" : "memory.max"), bytes);
  const swap = join(memory, name, version === 1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max");
  if (existsSync(swap)) writeFileSync(swap, version === 1 ? bytes : "0");
}

function controllerDirectories(): Controllers | undefined {
  try {
    const own = ownGroups(readFileSync("/proc/self/cgroup", "utf8"));
    const mounts = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "));
    const memory = versionOne(mounts, own, "memory");
    const pids = versionOne(mounts, own, "pids");
    if (memory !== undefined && pids !== undefined) return { version: 1, memory, pids };
    return versionTwo(mounts, own);
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    return undefined;
  }
}

/** By controller; that of version 2 under `""`. */
function ownGroups(text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.trim().split("\n")) {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const name of controllers.split(",")) groups.set(name, path);
  }
  return groups;
}

type Mounts = readonly (readonly string[])[];

function versionOne(
  mounts: Mounts,
  own: ReadonlyMap<string, string>,
  controller: string,
): string | undefined {
  const mount = mounts.find(
    ([, , type, options]) => type === "cgroup" && options?.split(",").includes(controller),
  );
  const path = own.get(controller);
  if (mount?.[1] === undefined || path === undefined) return undefined;
  const directory = join(mount[1], path);
  return [directory, mount[1]].find(isWritable);
}

function versionTwo(mounts: Mounts, own: ReadonlyMap<string, string>): Controllers | undefined {
  const mount = mounts.find(([, , type]) => type === "cgroup2")?.[1];
  const path = own.get("");
  if (mount === undefined || path === undefined || path === "/") return undefined;
  const parent = join(mount, dirname(path));
  const controlled = readFileSync(join(parent, "cgroup.subtree_control"), "utf8").trim().split(" ");
  if (!controlled.includes("memory") || !controlled.includes("pids") || !isWritable(parent)) return undefined;
  accessSync(join(parent, "cgroup.procs"), constants.W_OK);
  return { version: 2, memory: parent, pids: parent };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Groups whose process is gone; one that still has processes stays. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const owner = name.slice(PREFIX.length).split(".").slice(0, 2).join(".");
    if (!isAlive(owner)) removeAll([join(parent, name)]);
  }
}

/** Killed processes take a moment to be gone. */
async function endAll(directories: readonly string[]): Promise<void> {
  for (let round = 0; round < END_ROUNDS && directories.some((path) => existsSync(path)); round += 1) {
    if (round > 0) await pause(END_PAUSE);
    killAll(directories);
    removeAll(directories);
  }
}

function killAll(directories: readonly string[]): void {
  for (const directory of directories) {
    let text = "";
    try {
      text = readFileSync(join(directory, "cgroup.procs"), "utf8");
    } catch {
      continue;
    }
    for (const pid of text
      .split("\n")
      .map(Number)
      .filter((number) => number > 0))
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
  }
}

function removeAll(directories: readonly string[]): void {
  for (const directory of directories)
    try {
      rmdirSync(directory);
    } catch {
      // It is gone, or something in it is about to end: the next sweep removes it.
    }
}
