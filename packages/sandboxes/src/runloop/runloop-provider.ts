/** Creates, finds and ends sandboxes at Runloop, which calls them devboxes. */
import type { Devbox, RunloopSDK } from "@runloop/api-client";
import type { DevboxCreateParams, DevboxView } from "@runloop/api-client/resources/devboxes/devboxes";
import { SandboxError } from "deepwright";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest, type SandboxProvider } from "../provider.ts";
import { ATTEMPT_LABEL, CloudProvider, ownedSandbox } from "../remote/cloud-provider.ts";
import { loadVendor } from "../remote/vendor.ts";
import { type Vendor, VendorCalls } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";
import { RunloopMachine } from "./runloop-machine.ts";
import type { RunloopHandle, RunloopSettings } from "./runloop-options.ts";

const RUNLOOP: Vendor = {
  vendor: "Runloop",
  keyHint: "Set RUNLOOP_API_KEY, or pass apiKey, to a key that may do this.",
};
/** Retries of the SDK. They are safe: our commands refuse to run twice. */
const RETRIES = 2;
const PAGE = 100;
const RESUME_SECONDS = 300;

export class RunloopProvider extends CloudProvider<RunloopSDK, Devbox> {
  readonly name = "runloop";
  readonly #settings: RunloopSettings;
  readonly #calls: VendorCalls;

  constructor(settings: RunloopSettings) {
    super(settings, settings.network === "open" ? "open" : settings.network.reach);
    this.#settings = settings;
    this.#calls = new VendorCalls(RUNLOOP, [settings.apiKey ?? process.env.RUNLOOP_API_KEY]);
  }

  /** Resumes a suspended devbox with its files. Undefined: it has ended. */
  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    request.signal?.throwIfAborted();
    const devbox = (await this.connect()).devbox.fromId(id);
    const status = await this.#calls.call("find the devbox", () => statusOfDevbox(devbox), request.signal);
    if (status === undefined || isEnded(status)) return undefined;
    const machine = this.#machineOf(devbox);
    const isThere = await machine.awake();
    request.signal?.throwIfAborted();
    return isThere ? this.#held(devbox, machine, request) : undefined;
  }

  async destroy(id: string): Promise<void> {
    await this.end((await this.connect()).devbox.fromId(id));
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy(LEASE_LABEL, key);
  }

  protected async create(client: RunloopSDK, request: OpenRequest, attempt: string): Promise<Devbox> {
    const { id } = await this.#calls.call("create a devbox", () =>
      client.api.devboxes.create(this.#parameters(request, attempt)),
    );
    const devbox = client.devbox.fromId(id);
    try {
      await this.#calls.call("start the devbox", () =>
        devbox.awaitRunning({ longPoll: { timeoutMs: this.#settings.openTimeout * 1000 } }),
      );
      return devbox;
    } catch (error) {
      await this.end(devbox).catch(() => undefined);
      throw error;
    }
  }

  #parameters({ key, ttl }: OpenRequest, attempt: string): DevboxCreateParams {
    const { blueprintId, blueprintName, snapshotId, network, labels, create, idleTimeout, onIdle } =
      this.#settings;
    const launch = create?.launch_parameters ?? {};
    const idle = { idle_time_seconds: Math.max(1, Math.ceil(ttl ?? idleTimeout)), on_idle: onIdle };
    return {
      ...create,
      ...(blueprintId === undefined ? {} : { blueprint_id: blueprintId }),
      ...(blueprintName === undefined ? {} : { blueprint_name: blueprintName }),
      ...(snapshotId === undefined ? {} : { snapshot_id: snapshotId }),
      metadata: { ...labels, [LEASE_LABEL]: key, [ATTEMPT_LABEL]: attempt },
      launch_parameters: {
        ...launch,
        lifecycle: { ...launch.lifecycle, after_idle: idle },
        ...(network === "open" ? {} : { network_policy_id: network.policy }),
      },
    };
  }

  #machineOf(devbox: Devbox): RunloopMachine {
    return new RunloopMachine(devbox, this.#calls, this.workingDirectory, this.#settings.openTimeout);
  }

  protected opened(_client: RunloopSDK, devbox: Devbox, request: OpenRequest): OpenedSandbox {
    return this.#held(devbox, this.#machineOf(devbox), request);
  }

  #held(devbox: Devbox, machine: RunloopMachine, request: OpenRequest): OpenedSandbox {
    const keepAlive = () => keepDevbox(this.#calls, devbox);
    return this.hold({ machine, keepAlive, end: () => this.end(devbox) }, request);
  }

  protected async end(devbox: Devbox): Promise<void> {
    await this.#calls.call("end the devbox", async () => {
      try {
        await devbox.shutdown();
      } catch (error) {
        if (isNotFound(error)) return;
        const status = await statusOfDevbox(devbox);
        if (status !== undefined && !isEnded(status)) throw error;
      }
    });
  }

  protected async sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy(ATTEMPT_LABEL, attempt)) await this.destroy(id);
  }

  /** Lists all devboxes, because Runloop cannot search by metadata. */
  async #findBy(label: string, value: string): Promise<readonly string[]> {
    const client = await this.connect();
    return this.#calls.call("list devboxes", async () => {
      const ids: string[] = [];
      for await (const devbox of client.api.devboxes.list({ limit: PAGE, include_total_count: false }))
        if (devbox.metadata?.[label] === value && !isEnded(devbox.status)) ids.push(devbox.id);
      return ids;
    });
  }

  protected async makeClient(): Promise<RunloopSDK> {
    const { client, baseUrl = process.env.RUNLOOP_BASE_URL } = this.#settings;
    if (client !== undefined) return client;
    const bearerToken = this.#settings.apiKey ?? process.env.RUNLOOP_API_KEY;
    if (!bearerToken)
      throw new SandboxError("Runloop needs a key. Set RUNLOOP_API_KEY, or pass apiKey.", "ACCESS_DENIED");
    const sdk = await loadVendor("@runloop/api-client", () => import("@runloop/api-client"));
    return this.#calls.call(
      "be reached",
      async () =>
        new sdk.RunloopSDK({
          bearerToken,
          maxRetries: RETRIES,
          ...(baseUrl ? { baseURL: baseUrl } : {}),
          // HTTP/2 of the SDK needs TLS.
          ...(baseUrl?.startsWith("http:") ? { http2: false } : {}),
        }),
    );
  }
}

export function ownedRunloopSandbox(handle: RunloopHandle): SandboxProvider {
  const { sandbox, network, workingDirectory } = handle;
  const calls = new VendorCalls(RUNLOOP, []);
  return ownedSandbox(handle, {
    name: "runloop",
    network,
    id: sandbox.id,
    machine: () => new RunloopMachine(sandbox, calls, workingDirectory, RESUME_SECONDS),
    keepAlive: () => keepDevbox(calls, sandbox),
  });
}

async function keepDevbox(calls: VendorCalls, devbox: Devbox): Promise<void> {
  await calls.call("keep the devbox", () => devbox.keepAlive());
}

/** Undefined: the devbox does not exist. */
async function statusOfDevbox(devbox: Devbox): Promise<DevboxView["status"] | undefined> {
  try {
    return (await devbox.getInfo()).status;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isEnded(status: DevboxView["status"]): boolean {
  return status === "shutdown" || status === "failure";
}
