/**
 * Checks that an engine has mounted the requested directories.
 *
 * Engines take names, and another container on the same directory can replace a name by a link before the mount. A
 * finished mount cannot be replaced, and the kernel knows its source, so it is checked before any command runs.
 */
import { SandboxError } from "deepwright";

interface Mount {
  readonly device: string;
  /** Source of the mount, in its file system. */
  readonly root: string;
  readonly target: string;
}

/** `text` is `/proc/self/mountinfo` in the container. Throws unless `count` things of the workspace are mounted in it. */
export function checkMounts(text: string, workspace: string, count: number): void {
  const mounts = text.split("\n").map(mountOf);
  const top = mounts.findLast(({ target }) => target === workspace);
  const below = mounts.filter(({ target }) => target.startsWith(`${workspace}/`));
  const isOwn = ({ device, root }: Mount): boolean =>
    device === top?.device && root.startsWith(top.root === "/" ? "/" : `${top.root}/`);
  if (top !== undefined && below.length === count && below.every(isOwn)) return;
  throw new SandboxError(
    "The container cannot be used: files that steer other programs were exchanged while they were mounted, or lie on another file system than the workspace.",
    "SANDBOX_UNAVAILABLE",
  );
}

function mountOf(line: string): Mount {
  const [, , device = "", root = "", target = ""] = line.split(" ");
  return { device, root, target };
}
