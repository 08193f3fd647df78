/** How Runloop's devboxes are made, found and ended. */
import { randomBytes } from "node:crypto";
import type { Devbox, RunloopSDK } from "@runloop/api-client";
import type { DevboxCreateParams, DevboxView } from "@runloop/api-client/resources/devboxes/devboxes";
import { SandboxError } from "deepwright";
import { borrowedSandbox } from "../borrowed-sandbox.ts";
import {
  LEASE_LABEL,
  type NetworkReach,
  type OpenedSandbox,
  type OpenRequest,
  type SandboxProvider,
} from "../provider.ts";
import { createOrUndo } from "../remote/create-or-undo.ts";
import { RemoteSandbox } from "../remote/remote-sandbox.ts";
import { loadVendor } from "../remote/vendor.ts";
import { type Vendor, VendorCalls } from "../remote/vendor-calls.ts";
import { isNotFound } from "../remote/vendor-errors.ts";
import { RunloopMachine } from "./runloop-machine.ts";
import type { RunloopHandle, RunloopSettings } from "./runloop-options.ts";

const RUNLOOP: Vendor = {
  vendor: "Runloop",
  keyHint: "Set RUNLOOP_API_KEY, or pass apiKey, to a key that may do this.",
};
/** Holds a value made for one creation, by which it is found when its answer was lost. */
const ATTEMPT_LABEL = "deepwright-attempt";
/** A command of ours cannot run twice, so a request may be sent again. */
const RETRIES = 2;
const PAGE = 100;
const RESUME_SECONDS = 300;

export class RunloopProvider implements SandboxProvider {
  readonly name = "runloop";
  readonly network: NetworkReach;
  readonly workingDirectory: string;
  readonly #settings: RunloopSettings;
  readonly #calls: VendorCalls;
  #client: Promise<RunloopSDK> | undefined;

  constructor(settings: RunloopSettings) {
    this.#settings = settings;
    this.network = settings.network === "open" ? "open" : settings.network.reach;
    this.workingDirectory = settings.workingDirectory;
    this.#calls = new VendorCalls(RUNLOOP, [settings.apiKey ?? process.env.RUNLOOP_API_KEY]);
  }

  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const client = await this.#connect();
    const attempt = randomBytes(12).toString("hex");
    const devbox = await createOrUndo({
      create: () => this.#create(client, request, attempt),
      end: (made) => this.#end(made),
      sweep: () => this.#sweep(attempt),
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.#opened(devbox, this.#machineOf(devbox), request);
  }

  /** One that was suspended is resumed; its files are there. */
  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    request.signal?.throwIfAborted();
    const devbox = (await this.#connect()).devbox.fromId(id);
    const status = await this.#calls.call("find the devbox", () => statusOfDevbox(devbox), request.signal);
    if (status === undefined || isEnded(status)) return undefined;
    const machine = this.#machineOf(devbox);
    const isThere = await machine.awake();
    request.signal?.throwIfAborted();
    return isThere ? this.#opened(devbox, machine, request) : undefined;
  }

  async destroy(id: string): Promise<void> {
    await this.#end((await this.#connect()).devbox.fromId(id));
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy(LEASE_LABEL, key);
  }

  async #create(client: RunloopSDK, request: OpenRequest, attempt: string): Promise<Devbox> {
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
      await this.#end(devbox).catch(() => undefined);
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

  #opened(devbox: Devbox, machine: RunloopMachine, request: OpenRequest): OpenedSandbox {
    const { env, timeout, maxOutputBytes } = this.#settings;
    let ended: Promise<void> | undefined;
    return {
      id: devbox.id,
      sandbox: new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes }),
      keepAlive: async () => {
        await this.#calls.call("keep the devbox", () => devbox.keepAlive());
      },
      detach: async () => undefined,
      destroy: async () => {
        machine.end();
        ended ??= this.#end(devbox).catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        await ended;
      },
    };
  }

  async #end(devbox: Devbox): Promise<void> {
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

  async #sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy(ATTEMPT_LABEL, attempt)) await this.destroy(id);
  }

  /** Runloop does not look for metadata: all devboxes are listed. */
  async #findBy(label: string, value: string): Promise<readonly string[]> {
    const client = await this.#connect();
    return this.#calls.call("list devboxes", async () => {
      const ids: string[] = [];
      for await (const devbox of client.api.devboxes.list({ limit: PAGE, include_total_count: false }))
        if (devbox.metadata?.[label] === value && !isEnded(devbox.status)) ids.push(devbox.id);
      return ids;
    });
  }

  #connect(): Promise<RunloopSDK> {
    this.#client ??= this.#makeClient().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #makeClient(): Promise<RunloopSDK> {
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
          // Its HTTP/2 needs TLS.
          ...(baseUrl?.startsWith("http:") ? { http2: false } : {}),
        }),
    );
  }
}

/** One that its owner made and ends: it is used, and left alone. */
export function ownedRunloopSandbox(handle: RunloopHandle): SandboxProvider {
  const { sandbox, env, timeout, maxOutputBytes, network, workingDirectory } = handle;
  const calls = new VendorCalls(RUNLOOP, []);
  const open = (request: OpenRequest): OpenedSandbox => {
    const machine = new RunloopMachine(sandbox, calls, workingDirectory, RESUME_SECONDS);
    const remote = new RemoteSandbox(machine, {
      env: { ...env, ...request.env },
      timeout,
      maxOutputBytes,
    });
    return {
      ...borrowedSandbox(sandbox.id, remote),
      keepAlive: async () => {
        await calls.call("keep the devbox", () => sandbox.keepAlive());
      },
    };
  };
  return {
    name: "runloop",
    network,
    workingDirectory,
    lendsPlace: true,
    open: async (request) => {
      request.signal?.throwIfAborted();
      return open(request);
    },
    reattach: async (id, request) => (id === sandbox.id ? open(request) : undefined),
  };
}

/** Undefined: there is none. */
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
