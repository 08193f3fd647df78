/** How LangSmith's sandboxes are made, found and ended. */
import { SandboxError } from "deepwright";
import type { Sandbox, SandboxClient } from "langsmith/sandbox";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { CloudProvider, isLeaseName, newLeaseName, ownedSandbox } from "../remote/cloud-provider.ts";
import type { RemoteMachine } from "../remote/remote-sandbox.ts";
import { loadVendor } from "../remote/vendor.ts";
import { VendorCalls } from "../remote/vendor-calls.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { isMissing, LANGSMITH } from "./langsmith-calls.ts";
import { LangSmithMachine } from "./langsmith-machine.ts";
import type { LangSmithHandle, LangSmithSettings } from "./langsmith-options.ts";

const MINUTE = 60;
const KEEP_SECONDS = 30;

export class LangSmithProvider extends CloudProvider<SandboxClient, Sandbox> {
  readonly name = "langsmith";
  readonly #settings: LangSmithSettings;
  readonly #calls: VendorCalls;

  constructor(settings: LangSmithSettings) {
    super(settings, reachOf(settings.network));
    this.#settings = settings;
    const { LANGSMITH_API_KEY, LANGCHAIN_API_KEY } = process.env;
    this.#calls = new VendorCalls(LANGSMITH, [settings.apiKey, LANGSMITH_API_KEY, LANGCHAIN_API_KEY]);
  }

  /** A stopped sandbox is started; it still has its files. */
  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const { signal } = request;
    const client = await this.connect();
    const sandbox = await this.#calls.call("find the sandbox", () => this.#awake(client, id, signal), signal);
    return sandbox === undefined ? undefined : this.opened(client, sandbox, request);
  }

  async destroy(id: string): Promise<void> {
    const client = await this.connect();
    await this.#calls.call("end the sandbox", () =>
      client.deleteSandbox(id).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      }),
    );
  }

  async find(key: string): Promise<readonly string[]> {
    const client = await this.connect();
    const sandboxes = await this.#calls.call("list sandboxes", () => client.listSandboxes());
    return sandboxes
      .filter(({ name, status }) => isLeaseName(name, key) && status !== "failed" && status !== "deleting")
      .map(({ name }) => name);
  }

  /** The name is made here, so that the sandbox is found when the answer was lost. */
  protected override attemptOf({ key }: OpenRequest): string {
    return newLeaseName(key);
  }

  protected sweep(name: string): Promise<void> {
    return this.destroy(name);
  }

  protected end({ name }: Sandbox): Promise<void> {
    return this.destroy(name);
  }

  protected create(client: SandboxClient, request: OpenRequest, name: string): Promise<Sandbox> {
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

  protected opened(client: SandboxClient, sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const state = async (): Promise<string> => (await client.getSandboxStatus(sandbox.name)).status;
    const machine = new LangSmithMachine(sandbox, this.#calls, this.workingDirectory, state);
    return this.hold({ machine, keepAlive: () => used(machine), end: () => this.end(sandbox) }, request);
  }

  /** A request that broke is not made again by the SDK: it may have been carried out. */
  protected async makeClient(): Promise<SandboxClient> {
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

export function ownedLangSmithSandbox(handle: LangSmithHandle): SandboxProvider {
  const { sandbox, workingDirectory } = handle;
  const calls = new VendorCalls(LANGSMITH, []);
  return ownedSandbox(handle, {
    name: "langsmith",
    network: "open",
    id: sandbox.name,
    machine: () => new LangSmithMachine(sandbox, calls, workingDirectory),
    keepAlive: used,
  });
}

/** Stopped when its time without use is over, and deleted soon after; LangSmith counts in minutes. */
function lifeOf({ ttl }: OpenRequest): { idleTtlSeconds?: number; deleteAfterStopSeconds?: number } {
  if (ttl === undefined) return {};
  return { idleTtlSeconds: Math.max(1, Math.ceil(ttl / MINUTE)) * MINUTE, deleteAfterStopSeconds: MINUTE };
}

/** There is no call for it: a command is use. */
async function used(machine: RemoteMachine): Promise<void> {
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
