/** How LangSmith's sandboxes are made, found and ended. */
import { createHash, randomBytes } from "node:crypto";
import { SandboxError } from "deepwright";
import type { Sandbox, SandboxClient } from "langsmith/sandbox";
import { borrowedSandbox } from "../borrowed-sandbox.ts";
import type { NetworkReach, OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { createOrUndo } from "../remote/create-or-undo.ts";
import { RemoteSandbox } from "../remote/remote-sandbox.ts";
import { loadVendor } from "../remote/vendor.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { isMissing, LangSmithCalls } from "./langsmith-calls.ts";
import { LangSmithMachine } from "./langsmith-machine.ts";
import type { LangSmithHandle, LangSmithSettings } from "./langsmith-options.ts";

const MINUTE = 60;
const KEEP_SECONDS = 30;

export class LangSmithProvider implements SandboxProvider {
  readonly name = "langsmith";
  readonly network: NetworkReach;
  readonly workingDirectory: string;
  readonly #settings: LangSmithSettings;
  readonly #calls: LangSmithCalls;
  #client: Promise<SandboxClient> | undefined;

  constructor(settings: LangSmithSettings) {
    this.#settings = settings;
    this.network = reachOf(settings.network);
    this.workingDirectory = settings.workingDirectory;
    const { LANGSMITH_API_KEY, LANGCHAIN_API_KEY } = process.env;
    this.#calls = new LangSmithCalls([settings.apiKey, LANGSMITH_API_KEY, LANGCHAIN_API_KEY]);
  }

  /** The name is made here, so that what was made is found when its answer was lost. */
  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const client = await this.#connect();
    const name = `${nameOf(request.key)}${randomBytes(8).toString("hex")}`;
    const sandbox = await createOrUndo({
      create: () => this.#create(client, request, name),
      end: () => this.destroy(name),
      sweep: () => this.destroy(name),
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.#opened(client, sandbox, request);
  }

  /** One that was stopped is started; its files are there. */
  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const { signal } = request;
    const client = await this.#connect();
    const sandbox = await this.#calls.call("find the sandbox", () => this.#awake(client, id, signal), signal);
    return sandbox === undefined ? undefined : this.#opened(client, sandbox, request);
  }

  async destroy(id: string): Promise<void> {
    const client = await this.#connect();
    await this.#calls.call("end the sandbox", () =>
      client.deleteSandbox(id).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      }),
    );
  }

  async find(key: string): Promise<readonly string[]> {
    const client = await this.#connect();
    const sandboxes = await this.#calls.call("list sandboxes", () => client.listSandboxes());
    const isOurs = new RegExp(`^${nameOf(key)}[0-9a-f]{16}$`);
    return sandboxes
      .filter(({ name, status }) => isOurs.test(name) && status !== "failed" && status !== "deleting")
      .map(({ name }) => name);
  }

  #create(client: SandboxClient, request: OpenRequest, name: string): Promise<Sandbox> {
    const { create, snapshot, snapshotName, network, openTimeout } = this.#settings;
    const allow = typeof network === "object" ? [...network.allow] : undefined;
    const proxyConfig =
      allow === undefined
        ? create?.proxyConfig
        : {
            ...create?.proxyConfig,
            access_control: { ...create?.proxyConfig?.access_control, allow_list: allow },
          };
    const options = {
      ...create,
      name,
      timeout: openTimeout,
      ...(proxyConfig === undefined ? {} : { proxyConfig }),
      ...(snapshotName === undefined ? {} : { snapshotName }),
      ...lifeOf(request),
    };
    return this.#calls.call("create a sandbox", () =>
      snapshot === undefined ? client.createSandbox(options) : client.createSandbox(snapshot, options),
    );
  }

  async #awake(
    client: SandboxClient,
    id: string,
    signal: AbortSignal | undefined,
  ): Promise<Sandbox | undefined> {
    const timeout = this.#settings.openTimeout;
    const options = signal === undefined ? {} : { signal };
    try {
      const sandbox = await client.getSandbox(id, options);
      if (sandbox.status === "failed" || sandbox.status === "deleting") return undefined;
      if (sandbox.status === "stopped") return await client.startSandbox(id, { timeout, ...options });
      if (sandbox.status === "provisioning") return await client.waitForSandbox(id, { timeout, ...options });
      return sandbox;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #opened(client: SandboxClient, sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const { env, timeout, maxOutputBytes } = this.#settings;
    const state = async (): Promise<string> => (await client.getSandboxStatus(sandbox.name)).status;
    const machine = new LangSmithMachine(sandbox, this.#calls, this.workingDirectory, state);
    let ended: Promise<void> | undefined;
    return {
      id: sandbox.name,
      sandbox: new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes }),
      keepAlive: () => used(machine),
      detach: async () => undefined,
      destroy: async () => {
        machine.end();
        ended ??= this.destroy(sandbox.name).catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        await ended;
      },
    };
  }

  #connect(): Promise<SandboxClient> {
    this.#client ??= this.#makeClient().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** A request that broke is not made again by the SDK: it may have been carried out. */
  async #makeClient(): Promise<SandboxClient> {
    const { client, apiKey, apiUrl } = this.#settings;
    if (client !== undefined) return client;
    if (!apiKey && !process.env.LANGSMITH_API_KEY && !process.env.LANGCHAIN_API_KEY)
      throw new SandboxError(
        "LangSmith needs a key. Set LANGSMITH_API_KEY, or pass apiKey.",
        "ACCESS_DENIED",
      );
    const sdk = await loadSdk();
    return new sdk.SandboxClient({
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(apiUrl === undefined ? {} : { apiEndpoint: apiUrl }),
      maxRetries: 0,
    });
  }
}

/** One that its owner made and ends: it is used, and left alone. */
export function ownedLangSmithSandbox(handle: LangSmithHandle): SandboxProvider {
  const { sandbox, env, timeout, maxOutputBytes, workingDirectory } = handle;
  const calls = new LangSmithCalls([]);
  const open = (request: OpenRequest): OpenedSandbox => {
    const machine = new LangSmithMachine(sandbox, calls, workingDirectory);
    const own = { env: { ...env, ...request.env }, timeout, maxOutputBytes };
    const opened = borrowedSandbox(sandbox.name, new RemoteSandbox(machine, own));
    return { ...opened, keepAlive: () => used(machine) };
  };
  return {
    name: "langsmith",
    network: "open",
    workingDirectory,
    lendsPlace: true,
    open: async (request) => {
      request.signal?.throwIfAborted();
      return open(request);
    },
    reattach: async (id, request) => (id === sandbox.name ? open(request) : undefined),
  };
}

/** Stopped when its time without use is over, and deleted soon after; LangSmith counts in minutes. */
function lifeOf({ ttl }: OpenRequest): { idleTtlSeconds?: number; deleteAfterStopSeconds?: number } {
  if (ttl === undefined) return {};
  return { idleTtlSeconds: Math.max(1, Math.ceil(ttl / MINUTE)) * MINUTE, deleteAfterStopSeconds: MINUTE };
}

/** There is no call for it: a command is use. */
async function used(machine: LangSmithMachine): Promise<void> {
  await machine.run("true", {
    timeoutSeconds: KEEP_SECONDS,
    signal: AbortSignal.timeout(KEEP_SECONDS * 1000),
  });
}

/** Older versions of the package have no sandboxes. */
async function loadSdk() {
  try {
    return await loadVendor("langsmith", () => import("langsmith/sandbox"));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
    throw new SandboxError(
      "The installed version of 'langsmith' has no sandboxes. Run: npm install langsmith@latest",
      "SANDBOX_UNAVAILABLE",
      error,
    );
  }
}

/** There are no labels: names begin with what stands for the key. They have 60 characters. */
function nameOf(key: string): string {
  return `deepwright-${createHash("sha256").update(key).digest("hex").slice(0, 32)}-`;
}
