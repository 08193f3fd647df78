/**
 * User and group of commands, in numbers of the container.
 *
 * With a workspace it is the owner of the directory. If the engine belongs to an ordinary user ("rootless"), ids in a
 * container differ from ids of the machine, so the owner's id in the container has to be found.
 */
import { statSync } from "node:fs";
import type { DockerSettings } from "./docker-options.ts";
import type { Engine } from "./engine.ts";

export interface CommandUser {
  /** `uid:gid`. */
  readonly user: string;
  /** Podman's word for a container in which the user of the engine has the same number as outside. */
  readonly usernsMode?: "keep-id";
  readonly isRootless: boolean;
}

const UNPRIVILEGED = "1000:1000";
const ROOT = "0:0";

/** Asks the engine where it matters: with a workspace. */
export async function commandUser(
  engine: Engine,
  settings: DockerSettings,
  signal?: AbortSignal,
): Promise<CommandUser> {
  const user = userOf(settings);
  if (settings.workspace === undefined) return { user, isRootless: false };
  const kind = await rootlessKind(engine, signal);
  if (kind === undefined) return { user, isRootless: false };
  // Outside, the root of a rootless container is the user of the engine, with no right more.
  if (kind === "podman")
    return { user, isRootless: true, ...(isRoot(user) ? {} : { usernsMode: "keep-id" }) };
  return { user: settings.user === undefined ? ROOT : user, isRootless: true };
}

/** User from the options, with an engine that is root. */
export function userOf({ user, workspace }: DockerSettings): string {
  if (user !== undefined) return String(user).includes(":") ? String(user) : `${user}:${user}`;
  const owner =
    workspace === undefined ? undefined : statSync(workspace.directory, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? UNPRIVILEGED : `${owner.uid}:${owner.gid}`;
}

/** Undefined: the engine runs as root. Podman has a field for it, Docker an entry in its security options. */
async function rootlessKind(engine: Engine, signal?: AbortSignal): Promise<"podman" | "docker" | undefined> {
  const info: { readonly Rootless?: unknown; readonly SecurityOptions?: unknown } = await engine.call(
    () => engine.docker.info(),
    { action: "say what it is", signal },
  );
  if (info.Rootless === true) return "podman";
  const options = Array.isArray(info.SecurityOptions) ? info.SecurityOptions : [];
  return options.some((option) => String(option).startsWith("name=rootless")) ? "docker" : undefined;
}

function isRoot(user: string): boolean {
  return user.startsWith("0:");
}
