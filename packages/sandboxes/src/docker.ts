/**
 * Commands in containers, over the API of Docker or Podman.
 *
 * A container of ours runs commands as a user without rights, without capabilities and new privileges, without network,
 * within limits. Unused, it ends by itself. It shares the kernel of the engine's machine.
 */
import { ConfigurationError } from "deepwright";
import { borrowedSandbox } from "./borrowed-sandbox.ts";
import { checkedVariables } from "./checked-options.ts";
import { type CommandUser, commandUser, userOf } from "./docker/command-user.ts";
import {
  findContainers,
  inspectContainer,
  isLeased,
  makeContainer,
  notOurs,
  removeContainer,
  TTL_LABEL,
  WORKSPACE,
} from "./docker/container.ts";
import { DockerBackend } from "./docker/docker-backend.ts";
import { type DockerSandboxOptions, type DockerSettings, dockerSettings } from "./docker/docker-options.ts";
import { type Engine, openEngine } from "./docker/engine.ts";
import { engineAddress } from "./docker/engine-address.ts";
import { lostContainer } from "./docker/engine-error.ts";
import { createKeepAlive } from "./docker/keep-alive.ts";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "./provider.ts";

export type { DockerLimits, DockerSandboxOptions, DockerWorkspace } from "./docker/docker-options.ts";

/** Connects to nothing until a sandbox is opened. */
export function dockerSandbox(options: DockerSandboxOptions | null = {}): SandboxProvider {
  const settings = dockerSettings(options);
  return settings.container === undefined ? leased(settings) : owned(settings, settings.container);
}

function leased(settings: DockerSettings): SandboxProvider {
  const engine = () => openEngine(engineAddress(settings), settings.engineTimeout);
  return {
    name: "docker",
    network: settings.network,
    workingDirectory: WORKSPACE,
    lendsFiles: settings.workspace !== undefined,
    open: async (request) => {
      checkKey(request.key);
      checkedVariables(request.env);
      request.signal?.throwIfAborted();
      const connected = await engine();
      const user = await commandUser(connected, settings, request.signal);
      const { id, mounted } = await makeContainer(connected, settings, request, user);
      const opened = hold(connected, settings, request, { id, user, ttl: request.ttl ?? settings.ttl });
      if (settings.workspace === undefined || settings.workspace.readOnly) return opened;
      try {
        await opened.sandbox.checkMounts(mounted);
        await opened.sandbox.checkWritable(user.isRootless);
        return opened;
      } catch (error) {
        await opened.destroy();
        throw error;
      }
    },
    reattach: async (id, request) => {
      checkedVariables(request.env);
      const connected = await engine();
      const info = await inspectContainer(connected, id, { signal: request.signal });
      if (info === undefined) return undefined;
      if (!isLeased(info)) throw notOurs(id);
      if (!info.State.Running) {
        await removeContainer(connected, id);
        return undefined;
      }
      const user = await commandUser(connected, settings, request.signal);
      const ttl = Number(info.Config.Labels[TTL_LABEL]);
      const opened = hold(connected, settings, request, { id: info.Id, user, ttl });
      await opened.keepAlive?.();
      return opened;
    },
    destroy: async (id) => {
      const connected = await engine();
      const info = await inspectContainer(connected, id);
      if (info === undefined) return;
      if (!isLeased(info)) throw notOurs(id);
      await removeContainer(connected, id);
    },
    find: async (key) => {
      checkKey(key);
      return findContainers(await engine(), key);
    },
  };
}

interface Held {
  readonly id: string;
  readonly user: CommandUser;
  /** Seconds. */
  readonly ttl: number;
}

function hold(
  engine: Engine,
  settings: DockerSettings,
  request: OpenRequest,
  { id, user: { user }, ttl }: Held,
): OpenedSandbox & { readonly sandbox: DockerBackend } {
  const keeper = createKeepAlive(engine, id, ttl);
  const end = async (): Promise<void> => {
    sandbox.markEnded();
    keeper.close();
    await removeContainer(engine, id);
  };
  const sandbox = new DockerBackend({
    ...settings,
    engine,
    container: id,
    workingDirectory: WORKSPACE,
    user,
    env: { ...settings.env, ...request.env },
    maxFileBytes: settings.limits.fileSize,
    isOurs: true,
    onUse: () => keeper.noteUse(),
    end,
  });
  return {
    id,
    sandbox,
    keepAlive: () => keeper.tell(),
    detach: async () => keeper.close(),
    destroy: end,
  };
}

/** A container of the user's: it is used, and never ended. */
function owned(settings: DockerSettings, container: string): SandboxProvider {
  const open = async (request: OpenRequest): Promise<OpenedSandbox> => {
    checkedVariables(request.env);
    const engine = await openEngine(engineAddress(settings), settings.engineTimeout);
    const info = await inspectContainer(engine, container, { signal: request.signal });
    if (!info?.State.Running) throw lostContainer();
    const sandbox = new DockerBackend({
      ...settings,
      engine,
      container: info.Id,
      user: settings.user === undefined ? undefined : userOf(settings),
      env: { ...settings.env, ...request.env },
      maxFileBytes: 0,
      isOurs: false,
      end: async () => undefined,
    });
    await sandbox.checkDirectory();
    const opened = borrowedSandbox(info.Id, sandbox);
    const destroy = async (): Promise<void> => {
      await opened.destroy();
      sandbox.markEnded();
    };
    return { ...opened, destroy };
  };
  return {
    name: "docker",
    network: "open",
    workingDirectory: settings.workingDirectory,
    isBorrowed: true,
    open,
    reattach: async (_, request) => open(request),
  };
}

function checkKey(key: string): void {
  if (!/^[a-z0-9-]{1,63}$/.test(key))
    throw new ConfigurationError("INVALID_OPTION", `'${key}' is no key for a container.`);
}
