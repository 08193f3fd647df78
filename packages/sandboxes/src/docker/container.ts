/** A container for a lease: its limits, its creation and its end. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "deepwright";
import type Docker from "dockerode";
import { LEASE_LABEL, type OpenRequest } from "../provider.ts";
import type { CommandUser } from "./command-user.ts";
import { directoryArchive } from "./directory-archive.ts";
import type { DockerSettings } from "./docker-options.ts";
import type { Engine } from "./engine.ts";
import { engineError, isGone, messageOf, statusOf } from "./engine-error.ts";
import { ensureImage, missingImage } from "./image.ts";
import { CALL_VARIABLE, KEEPER, KEEPER_DIRECTORY } from "./scripts.ts";
import { workspaceMounts } from "./workspace-mounts.ts";

export const WORKSPACE = "/workspace";
/** When it was made, in ISO 8601, and after how many seconds without use it ends. */
export const CREATED_LABEL = "deepwright-created";
export const TTL_LABEL = "deepwright-ttl";

const CPU_PERIOD = 100_000;

/**
 * The request that creates the container. Its first process is our keeper, as root without any capability, so that no
 * command can end it or pretend that the container is in use.
 */
export function containerSpec(
  settings: DockerSettings,
  request: OpenRequest,
  { usernsMode }: CommandUser,
): Docker.ContainerCreateOptions {
  const ttl = request.ttl ?? settings.ttl;
  return {
    name: `deepwright-${request.key.slice(0, 40)}-${randomBytes(6).toString("hex")}`,
    Image: settings.image,
    Entrypoint: ["/bin/sh", "-c", KEEPER, "keeper"],
    Cmd: [String(ttl), String(ttl > 20 ? 2 : 0.5)],
    User: "0:0",
    WorkingDir: WORKSPACE,
    Env: [`${CALL_VARIABLE}=keeper`],
    Labels: {
      ...settings.labels,
      [LEASE_LABEL]: request.key,
      [CREATED_LABEL]: new Date().toISOString(),
      [TTL_LABEL]: String(ttl),
    },
    StopSignal: "SIGKILL",
    Healthcheck: { Test: ["NONE"] },
    HostConfig: { ...hostConfig(settings), ...(usernsMode && { UsernsMode: usernsMode }) },
  };
}

function hostConfig({ limits, network, readOnlyRoot, workspace }: DockerSettings): Docker.HostConfig {
  const memory = Math.floor(limits.memory);
  const scratch = {
    "/tmp": "rw,nosuid,nodev,mode=1777",
    ...(workspace ? {} : { [WORKSPACE]: "rw,nosuid,nodev,mode=1777" }),
  };
  return {
    AutoRemove: true,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    NetworkMode: network === "none" ? "none" : "bridge",
    Memory: memory,
    MemorySwap: memory,
    CpuPeriod: CPU_PERIOD,
    CpuQuota: Math.max(1000, Math.round(limits.cpus * CPU_PERIOD)),
    PidsLimit: Math.floor(limits.pids),
    ReadonlyRootfs: readOnlyRoot ?? false,
    Tmpfs: {
      [KEEPER_DIRECTORY]: "rw,noexec,nosuid,nodev,size=64k,mode=755",
      ...(readOnlyRoot ? scratch : {}),
    },
    ...(workspace === undefined ? {} : { Mounts: workspaceMounts(workspace, WORKSPACE) }),
  };
}

export interface MadeContainer {
  readonly id: string;
  /** How many things of the workspace are mounted in it. */
  readonly mounted: number;
}

/** A container that runs. When it cannot be had nothing is left of it. */
export async function makeContainer(
  engine: Engine,
  settings: DockerSettings,
  request: OpenRequest,
  user: CommandUser,
): Promise<MadeContainer> {
  const { signal } = request;
  const spec = containerSpec(settings, request, user);
  await ensureImage(engine, settings, signal);
  signal?.throwIfAborted();
  try {
    const id = await startContainer(engine, settings, spec, user, signal);
    return { id, mounted: (spec.HostConfig?.Mounts?.length ?? 1) - 1 };
  } catch (error) {
    await removeBegun(engine, spec.name as string, error);
    throw error;
  }
}

/** Milliseconds for which a container is looked for that the engine may yet make. */
const LATE_LIMIT = 5000;

/** Without an answer the state is unknown: the engine may have made the container, or be about to. */
async function removeBegun(engine: Engine, name: string, error: unknown): Promise<void> {
  const cause = error instanceof Error ? error.cause : undefined;
  const isAnswered = cause !== undefined && statusOf(cause) !== undefined;
  try {
    for (const start = performance.now(); ; await pause(200)) {
      const isThere = await removeContainer(engine, name);
      if (isThere || isAnswered || performance.now() - start > LATE_LIMIT) return;
    }
  } catch {
    // The engine is gone too. Where it is not, the container is found by its label.
  }
}

/** A running request is not aborted, so that it is known what has to be removed. */
async function startContainer(
  engine: Engine,
  settings: DockerSettings,
  spec: Docker.ContainerCreateOptions,
  { user }: CommandUser,
  signal: AbortSignal | undefined,
): Promise<string> {
  const container = await create(engine, settings, spec);
  signal?.throwIfAborted();
  if (!settings.readOnlyRoot) {
    const [uid = 0, gid = 0] = user.split(":").map(Number);
    const archive = directoryArchive([
      { path: "tmp", mode: 0o1777, uid: 0, gid: 0 },
      ...(settings.workspace ? [] : [{ path: WORKSPACE.slice(1), mode: 0o755, uid, gid }]),
    ]);
    await engine.call((abortSignal) => container.putArchive(archive, { path: "/", abortSignal }), {
      action: "prepare the container",
    });
    signal?.throwIfAborted();
  }
  await engine.call((abortSignal) => container.start({ abortSignal }), { action: "start the container" });
  signal?.throwIfAborted();
  return container.id;
}

async function create(
  engine: Engine,
  settings: DockerSettings,
  spec: Docker.ContainerCreateOptions,
): Promise<Docker.Container> {
  try {
    return await engine.ask((abortSignal) => engine.docker.createContainer({ ...spec, abortSignal }), {
      action: "make a container",
    });
  } catch (error) {
    if (isGone(error)) throw missingImage(settings.image, error);
    throw engineError(error, "make a container", engine.address);
  }
}

/** Whether it was there. No error when it is gone, or going. */
export async function removeContainer(engine: Engine, id: string): Promise<boolean> {
  try {
    await engine.ask(
      (abortSignal) => engine.docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
      { action: "remove the container" },
    );
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    if (isUnderWay(error)) return true;
    throw engineError(error, "remove the container", engine.address);
  }
}

function isUnderWay(error: unknown): boolean {
  return statusOf(error) === 409 && /already in progress/i.test(messageOf(error));
}

/** The engine's description of the container; undefined: it is gone. */
export async function inspectContainer(
  engine: Engine,
  id: string,
  options: { readonly signal?: AbortSignal | undefined; readonly deadline?: number } = {},
): Promise<Docker.ContainerInspectInfo | undefined> {
  try {
    return await engine.ask((abortSignal) => engine.docker.getContainer(id).inspect({ abortSignal }), {
      action: "look at the container",
      ...options,
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isGone(error)) return undefined;
    throw engineError(error, "look at the container", engine.address);
  }
}

/** Ids of all containers with this key, also of those that never started. */
export async function findContainers(engine: Engine, key: string): Promise<string[]> {
  const found = await engine.call(
    (abortSignal) =>
      engine.docker.listContainers({
        all: true,
        filters: { label: [`${LEASE_LABEL}=${key}`] },
        abortSignal,
      }),
    { action: "look for containers" },
  );
  return found.map(({ Id }) => Id);
}

/** Whether the container is one of ours. Foreign containers are never used or ended, even if a store names them. */
export function isLeased(info: Docker.ContainerInspectInfo): boolean {
  return info.Config.Labels?.[LEASE_LABEL] !== undefined;
}

export function notOurs(id: string): SandboxError {
  return new SandboxError(`The container ${id.slice(0, 12)} was not made for a lease.`, "ACCESS_DENIED");
}
