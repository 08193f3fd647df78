/** Finds the parts of a workspace that a sandbox has to know, at little cost. */
import type { Dirent, Stats } from "node:fs";
import { join } from "node:path";
import { CONTROL_NAMES } from "deepwright/internal";
import type { WorkspaceRoot } from "./workspace-root.ts";

const MAX_DEPTH = 3;
const MAX_ENTRIES = 4000;
const MAX_REPOSITORIES = 16;
const MAX_CONNECTIONS = 64;
/** Each costs a command a tenth of a millisecond, and as much for each directory above it. */
const MAX_CONTROLS = 64;
/** Directories of installed packages. */
const NOT_SEARCHED = new Set(["node_modules", ".venv", "venv", "vendor", "target", "dist"]);

export interface WorkspaceSearch {
  /** The repositories below the top, each path ending in `.git`. */
  readonly repositories: readonly string[];
  /** Other files and directories below the top that steer programs, and are no links. */
  readonly controls: readonly string[];
  /** Sockets and pipes. */
  readonly connections: readonly string[];
}

/** Relative paths, the ones near the top first. */
export function searchWorkspace(root: WorkspaceRoot): WorkspaceSearch {
  const repositories: string[] = [];
  const controls: string[] = [];
  const connections: string[] = [];
  let queue = [""];
  let left = MAX_ENTRIES;
  for (let depth = 0; depth <= MAX_DEPTH && queue.length > 0; depth += 1) {
    const next: string[] = [];
    for (const directory of queue) {
      const entries = root.entries(join(root.path, directory));
      left -= entries.length;
      if (left < 0) return { repositories, controls, connections };
      for (const entry of entries) {
        const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
        if (isConnection(entry)) {
          if (connections.length < MAX_CONNECTIONS) connections.push(path);
        } else if (entry.name.toLowerCase() === ".git") {
          if (directory !== "" && repositories.length < MAX_REPOSITORIES) repositories.push(path);
          connections.push(...connectionsIn(root, path));
        } else {
          if (directory !== "" && steers(entry) && controls.length < MAX_CONTROLS) controls.push(path);
          if (entry.isDirectory() && !NOT_SEARCHED.has(entry.name)) next.push(path);
        }
      }
    }
    queue = next;
  }
  return { repositories, controls, connections };
}

export function isControlName(name: string): boolean {
  const lower = name.toLowerCase();
  return CONTROL_NAMES.directories.has(lower) || CONTROL_NAMES.files.has(lower);
}

/** A directory with the name of a control file is none. */
function steers(entry: Dirent): boolean {
  const name = entry.name.toLowerCase();
  return CONTROL_NAMES.directories.has(name)
    ? entry.isDirectory()
    : CONTROL_NAMES.files.has(name) && entry.isFile();
}

/** Sockets in a repository: a program that watches files for git has one there. */
function connectionsIn(root: WorkspaceRoot, repository: string): string[] {
  const entries = root.entries(join(root.path, repository)).filter((entry) => isConnection(entry));
  return entries.map(({ name }) => `${repository}/${name}`);
}

export function isConnection(entry: Dirent | Stats): boolean {
  return entry.isSocket() || entry.isFIFO();
}
