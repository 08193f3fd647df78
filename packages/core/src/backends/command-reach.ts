/** Files that commands of a backend can reach. Files in a state, a store or a map are out of reach of a shell. */
import { COMMAND_REACH } from "../internal-symbols.ts";
import { isWithin } from "../paths.ts";
import type { BackendProtocol } from "./backend.ts";
import { isSandboxProtocol } from "./is-sandbox.ts";
import { type BackendSource, mayExecute } from "./resolve.ts";

/** Whether commands may reach a canonical path or something below it; undefined: a run will tell. */
export type CommandReach = (path: string) => boolean | undefined;

export interface WithCommandReach {
  readonly [COMMAND_REACH]?: CommandReach;
}

/** The same backend with a declaration of how far its commands reach. */
export function withCommandReach<Backend extends object>(backend: Backend, reach: CommandReach): Backend {
  return Object.defineProperty(backend, COMMAND_REACH, { value: reach });
}

/** Without a declaration commands reach everything. */
export function commandReachOf(backend: object): CommandReach {
  return (backend as WithCommandReach)[COMMAND_REACH] ?? (() => true);
}

export interface SourceMount {
  /** Canonical. */
  readonly prefix: string;
  readonly source: BackendSource;
}

/** Reach of a composite whose default runs the commands. `mounts` are the others, longest first. */
export function reachOfMounts(mounts: readonly SourceMount[]): CommandReach {
  return (path) => {
    const own = mounts.find(({ prefix }) => isWithin(path, prefix));
    if (own === undefined) return true;
    const below = mounts.filter(({ prefix }) => isWithin(prefix, path));
    const found = [own, ...below].map(({ source }) =>
      typeof source === "function" ? undefined : liesOnHost(source as BackendProtocol),
    );
    return found.includes(true) || (found.includes(undefined) ? undefined : false);
  };
}

/** A disk, or a machine: somewhere programs run. A shell is not held to the directory it starts in. */
function liesOnHost(backend: BackendProtocol): boolean {
  if (isSandboxProtocol(backend) || mayExecute(backend)) return true;
  return backend.workingDirectory !== undefined || backend.realPath !== undefined;
}
