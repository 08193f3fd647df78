/**
 * Links in the place of files that steer other programs.
 *
 * What such a link leads to can be mounted read-only, the link itself cannot: a mount on it would be one on what it
 * leads to. So it is watched while commands run: see `control-watch.ts`.
 */
import { basename, dirname, join, relative } from "node:path";
import { followPath } from "./followed-path.ts";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";

export interface LinkEnd {
  /** Target relative to the workspace; absent: it lies outside, where no command can change it. */
  readonly inside?: string;
}

/**
 * Followed on this machine, name by name. Undefined: a command could lead it elsewhere, since it passes by other names
 * in the workspace, or all of the workspace is what it leads to.
 */
export function endOfLink(root: WorkspaceRoot, path: string): LinkEnd | undefined {
  const start = join(root.path, path);
  const end = followPath(root, { from: dirname(start), path: basename(start) }, start);
  if (end === undefined || end === root.path || isIn(root.path, end)) return undefined;
  return isIn(end, root.path) ? { inside: relative(root.path, end) } : {};
}
