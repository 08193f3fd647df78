/** How Daytona's sandboxes are made, found and ended. */
import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "deepwright";
import {
  LEASE_LABEL,
  type NetworkReach,
  type OpenedSandbox,
  type OpenRequest,
  type SandboxProvider,
} from "../provider.ts";
import { ATTEMPT_LABEL, CloudProvider, ownedSandbox } from "../remote/cloud-provider.ts";
import { loadVendor } from "../remote/vendor.ts";
import { type Vendor, VendorCalls } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { DaytonaMachine } from "./daytona-machine.ts";
import type { DaytonaHandle, DaytonaSettings } from "./daytona-options.ts";

const DAYTONA: Vendor = {
  vendor: "Daytona",
  keyHint: "Set DAYTONA_API_KEY, or pass apiKey, to a key that may do this.",
};
/** Milliseconds a request may take that is no command and no transfer. */
const REQUEST_WAIT = 60_000;
const END_SECONDS = 60;
const START_SECONDS = 300;

export class DaytonaProvider extends CloudProvider<Daytona, Sandbox> {
  readonly name = "daytona";
  readonly #settings: DaytonaSettings;
  readonly #calls: VendorCalls;

  constructor(settings: DaytonaSettings) {
    super(settings, reachOf(settings.network));
    this.#settings = settings;
    this.#calls = new VendorCalls(DAYTONA, [settings.apiKey ?? process.env.DAYTONA_API_KEY]);
  }

  /** A stopped sandbox is started; it still has its files. */
  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const sandbox = await this.#get(id, request.signal);
    if (sandbox === undefined) return undefined;
    const machine = this.#machineOf(sandbox);
    const isThere = await machine.awake();
    request.signal?.throwIfAborted();
    return isThere ? this.#held(sandbox, machine, request) : undefined;
  }

  async destroy(id: string): Promise<void> {
    const sandbox = await this.#get(id);
    if (sandbox !== undefined) await this.end(sandbox);
  }

  async find(key: string): Promise<readonly string[]> {
    return (await this.#findBy({ [LEASE_LABEL]: key })).map(({ id }) => id);
  }

  protected create(client: Daytona, request: OpenRequest, attempt: string): Promise<Sandbox> {
    const { image, snapshot, network, labels, openTimeout, create } = this.#settings;
    const parameters = {
      ...create,
      ...(snapshot === undefined ? {} : { snapshot }),
      labels: { ...labels, [LEASE_LABEL]: request.key, [ATTEMPT_LABEL]: attempt },
      ...this.#lifeOf(request),
      networkBlockAll: network === "none",
      ...(typeof network === "string" ? {} : { domainAllowList: network.allow.join(",") }),
    };
    const options = { timeout: openTimeout };
    return this.#calls.call("create a sandbox", () =>
      image === undefined
        ? client.create(parameters, options)
        : client.create({ ...parameters, image }, options),
    );
  }

  /** Stopped when idle, and deleted when the time without use is over; both in minutes. */
  #lifeOf({ ttl }: OpenRequest): { autoStopInterval: number; autoDeleteInterval?: number } {
    const idle = Math.ceil(this.#settings.idleTimeout / 60);
    if (ttl === undefined) return { autoStopInterval: idle };
    const life = Math.max(1, Math.ceil(ttl / 60));
    const autoStopInterval = Math.min(idle, life);
    return { autoStopInterval, autoDeleteInterval: life - autoStopInterval };
  }

  #machineOf(sandbox: Sandbox): DaytonaMachine {
    return new DaytonaMachine(sandbox, this.#calls, this.workingDirectory, this.#settings.openTimeout);
  }

  protected opened(_client: Daytona, sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    return this.#held(sandbox, this.#machineOf(sandbox), request);
  }

  #held(sandbox: Sandbox, machine: DaytonaMachine, request: OpenRequest): OpenedSandbox {
    const keepAlive = () => this.#calls.call("keep the sandbox", () => sandbox.refreshActivity());
    return this.hold({ machine, keepAlive, end: () => this.end(sandbox) }, request);
  }

  protected async end(sandbox: Sandbox): Promise<void> {
    await this.#calls.call("end the sandbox", async () => {
      try {
        await sandbox.delete(END_SECONDS);
      } catch (error) {
        if (!isNotFound(error) && !(await isOnItsWay(sandbox))) throw error;
      }
    });
  }

  protected async sweep(attempt: string): Promise<void> {
    for (const sandbox of await this.#findBy({ [ATTEMPT_LABEL]: attempt })) await this.end(sandbox);
  }

  async #findBy(labels: Record<string, string>): Promise<readonly Sandbox[]> {
    const client = await this.connect();
    return this.#calls.call("list sandboxes", async () => {
      const found: Sandbox[] = [];
      for await (const sandbox of client.list({ labels })) if (!isEnded(sandbox)) found.push(sandbox);
      return found;
    });
  }

  async #get(id: string, signal?: AbortSignal): Promise<Sandbox | undefined> {
    const client = await this.connect();
    return this.#calls.call(
      "find the sandbox",
      () =>
        client.get(id).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        }),
      signal,
    );
  }

  protected async makeClient(): Promise<Daytona> {
    const { client, target } = this.#settings;
    if (client !== undefined) return client;
    const apiKey = this.#settings.apiKey ?? process.env.DAYTONA_API_KEY;
    const apiUrl = this.#settings.apiUrl ?? process.env.DAYTONA_API_URL ?? "https://app.daytona.io/api";
    if (!apiKey)
      throw new SandboxError("Daytona needs a key. Set DAYTONA_API_KEY, or pass apiKey.", "ACCESS_DENIED");
    const sdk = await loadVendor("@daytonaio/sdk", () => import("@daytonaio/sdk"));
    // Without polling the client would hold a connection open that nothing closes.
    return this.#calls.call(
      "be reached",
      async () =>
        new sdk.Daytona({
          apiKey,
          apiUrl,
          target,
          useDeprecatedPolling: true,
          requestTimeoutMs: REQUEST_WAIT,
        }),
    );
  }
}

export function ownedDaytonaSandbox(handle: DaytonaHandle): SandboxProvider {
  const { sandbox, workingDirectory } = handle;
  const calls = new VendorCalls(DAYTONA, []);
  return ownedSandbox(handle, {
    name: "daytona",
    network: reachOfHandle(sandbox),
    id: sandbox.id,
    machine: () => new DaytonaMachine(sandbox, calls, workingDirectory, START_SECONDS),
    keepAlive: () => calls.call("keep the sandbox", () => sandbox.refreshActivity()),
  });
}

function reachOfHandle({ networkBlockAll, networkAllowList, domainAllowList }: Sandbox): NetworkReach {
  if (networkBlockAll) return "none";
  return networkAllowList || domainAllowList ? "allow-list" : "open";
}

function isEnded({ state }: Sandbox): boolean {
  return state === "destroyed" || state === "destroying";
}

async function isOnItsWay(sandbox: Sandbox): Promise<boolean> {
  try {
    await sandbox.refreshData();
    return isEnded(sandbox);
  } catch (error) {
    return isNotFound(error);
  }
}
