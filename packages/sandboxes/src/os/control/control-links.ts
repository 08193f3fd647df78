/**
 * Links in place of control files.
 *
 * The target of such a link can be mounted read-only, the link itself cannot: a mount on it would be a mount on its
 * target. So the link is watched while commands run: see `control-watch.ts`.
 */
import { basename, dirname, join, relative } from "node:path";
import { followPath } from "./followed-path.ts";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";

export interface LinkEnd {
  /** Target relative to the workspace; absent: it lies outside, where no command can change it. */
  readonly inside?: string;
}

/**
 * Follows the link on this machine, name by name. Undefined: a command could redirect it, because it passes through
 * other names in the workspace, or its target is the whole workspace.
 */
export function endOfLink(root: WorkspaceRoot, path: string): LinkEnd | undefined {
  const start = join(root.path, path);
  const end = followPath(root, { from: dirname(start), path: basename(start) }, start);
  if (end === undefined || end === root.path || isIn(root.path, end)) return undefined;
  return isIn(end, root.path) ? { inside: relative(root.path, end) } : {};
}
