/**
 * The mounts of a workspace that is a directory of this machine: control files there cannot be changed.
 *
 * This covers control files at the top of the workspace, and named files, that exist when the container is made.
 * Missing ones can be created.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CONTROL_NAMES } from "deepwright/internal";
import type Docker from "dockerode";
import type { Present } from "../checked-options.ts";
import type { DockerWorkspace } from "./docker-options.ts";

/** The parts of a repository that name programs for git. `git commit` needs to write the rest. */
const GIT_PARTS = ["hooks", "config", "config.worktree", "modules", "worktrees", "commondir"];

/** `target` is where the workspace is in the container. */
export function workspaceMounts(workspace: Present<DockerWorkspace>, target: string): Docker.MountSettings[] {
  const { directory, readOnly = false, controlPaths: more = [] } = workspace;
  const mount = (path: string, isReadOnly: boolean): Docker.MountSettings => ({
    Type: "bind",
    Source: path === "" ? directory : join(directory, path),
    Target: path === "" ? target : `${target}/${path}`,
    ReadOnly: isReadOnly,
  });
  if (readOnly) return [mount("", true)];
  const found = withNamed(directory, controlPaths(directory), more);
  return [mount("", false), ...found.map(({ path, isPin }) => mount(path, !isPin))];
}

/** Adds named files with pins on the directories above them. One below a read-only mount needs none. */
function withNamed(
  directory: string,
  known: readonly ControlPath[],
  more: readonly string[],
): readonly ControlPath[] {
  const found = new Map(known.map((one) => [one.path, one]));
  for (const named of more) {
    const names = named.split("/");
    const way = names.map((_, index) => names.slice(0, index + 1).join("/"));
    if (!way.every((path) => isThere(join(directory, path)))) continue;
    if (way.some((path) => found.get(path)?.isPin === false)) continue;
    for (const path of way) found.set(path, { path, isPin: path !== named });
  }
  return [...found.values()];
}

interface ControlPath {
  readonly path: string;
  /** Its content can be changed; its name cannot, because something is mounted there. */
  readonly isPin: boolean;
}

/** No paths for a directory of another machine. A link is left alone: a mount would follow it. */
function controlPaths(directory: string): ControlPath[] {
  if (!isThere(directory)) return [];
  const found: ControlPath[] = [];
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const { name } = entry;
    if (!isControlName(name) || entry.isSymbolicLink()) continue;
    const isRepository = name.toLowerCase() === ".git" && entry.isDirectory();
    found.push({ path: name, isPin: isRepository });
    if (!isRepository) continue;
    for (const part of GIT_PARTS)
      if (isThere(join(directory, name, part))) found.push({ path: `${name}/${part}`, isPin: false });
  }
  return found;
}

function isControlName(name: string): boolean {
  const lower = name.toLowerCase();
  return CONTROL_NAMES.directories.has(lower) || CONTROL_NAMES.files.has(lower);
}

function isThere(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isSymbolicLink();
}
