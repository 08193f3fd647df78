/** Paths of this machine that commands may see besides the system: held open, and mounted by descriptor. */
import { closeSync, fstatSync } from "node:fs";
import { isIn, openPath } from "../control/workspace-root.ts";
import type { Bind } from "../network/network.ts";
import type { OsSettings } from "../os-options.ts";
import { SANDBOX_HOME, SYSTEM_DIRECTORIES } from "../policy.ts";
import { FIRST_PLACE } from "../set-up-report.ts";
import type { HeldMount } from "./bubblewrap-arguments.ts";

export interface VisibleMounts {
  readonly descriptors: readonly number[];
  readonly held: readonly HeldMount[];
  /** Mounted once more, inside: where commands can write, only a sandbox in the sandbox may mount. */
  readonly inside: readonly Bind[];
  /** Where `bwrap` is in the sandbox. */
  readonly bubblewrap: string;
  close(): void;
}

/** Where what is below such places is mounted first. */
const ASIDE = "/run/deepwright-visible";

/** Missing paths are left out. The workspace has the first number. */
export function openVisible({ visible, workingDirectory }: OsSettings, bubblewrap: string): VisibleMounts {
  const writable = ["/tmp", "/var/tmp", SANDBOX_HOME, workingDirectory];
  const isSystem = SYSTEM_DIRECTORIES.some((directory) => isIn(bubblewrap, directory));
  const descriptors: number[] = [];
  const held: HeldMount[] = [];
  const inside: Bind[] = [];
  let program = bubblewrap;
  for (const path of [...visible, ...(isSystem ? [] : [bubblewrap])]) {
    const descriptor = openedIfThere(path);
    if (descriptor === undefined) continue;
    const isBelow = writable.some((directory) => isIn(path, directory));
    const to = isBelow ? `${ASIDE}/${descriptors.length}` : path;
    descriptors.push(descriptor);
    const number = FIRST_PLACE + descriptors.length;
    held.push({ number, to, isDirectory: fstatSync(descriptor).isDirectory() });
    if (path === bubblewrap) program = to;
    else if (isBelow) inside.push({ from: to, to: path });
  }
  const close = (): void => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  };
  return { descriptors, held, inside, bubblewrap: program, close };
}

function openedIfThere(path: string): number | undefined {
  try {
    return openPath(path);
  } catch {
    return undefined;
  }
}
