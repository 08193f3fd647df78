/** Where a path on this machine leads, as far as no command in the workspace can change it. */
import { dirname, isAbsolute, join } from "node:path";
import { isIn, type WorkspaceRoot } from "./workspace-root.ts";

const MAX_LINKS = 40;

export interface NamedPath {
  /** A directory. As far as it lies in the workspace, no command can replace it. */
  readonly from: string;
  /** Relative to it, or absolute. */
  readonly path: string;
}

/**
 * Follows a path name by name; a missing part counts as being where it is named. Undefined: the path passes through
 * names in the workspace that a command could redirect. `kept` is a link there that no command can replace.
 */
export function followPath(
  root: WorkspaceRoot,
  { from, path }: NamedPath,
  kept?: string,
): string | undefined {
  const rootDir = root.path;
  const isRelative = !isAbsolute(path);
  const isKnown = isRelative && (from === rootDir || isIn(from, rootDir));
  const pending = namesIn(isRelative && !isKnown ? `${from}/${path}` : path);
  let current = isKnown ? from : "/";
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === "..") {
      if (isIn(current, rootDir) && current !== from && !isIn(from, current)) return undefined;
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const target = root.linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS || (next !== kept && isIn(next, rootDir))) return undefined;
    pending.unshift(...namesIn(target));
    if (isAbsolute(target)) current = "/";
  }
  return current;
}

function namesIn(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
