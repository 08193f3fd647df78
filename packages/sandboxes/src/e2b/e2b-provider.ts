/** How E2B's sandboxes are made, found and ended. */
import { randomBytes } from "node:crypto";
import type * as E2b from "e2b";
import type { Sandbox } from "e2b";
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
import { reachOf } from "../remote/vendor-network.ts";
import { E2bCalls, isGone } from "./e2b-errors.ts";
import { E2bMachine } from "./e2b-machine.ts";
import type { E2bHandle, E2bSettings } from "./e2b-options.ts";
import { SandboxTime } from "./sandbox-time.ts";

/** Holds a value made for one creation, by which it is found when its answer was lost. */
const ATTEMPT_LABEL = "deepwright-attempt";

/** All the addresses there are, for a list of what is refused. */
const EVERYWHERE = "0.0.0.0/0";

export class E2bProvider implements SandboxProvider {
  readonly name = "e2b";
  readonly network: NetworkReach;
  readonly workingDirectory: string;
  readonly #settings: E2bSettings;
  readonly #calls: E2bCalls;

  constructor(settings: E2bSettings) {
    this.#settings = settings;
    this.network = reachOf(settings.network);
    this.workingDirectory = settings.workingDirectory;
    this.#calls = new E2bCalls(settings.apiKey);
  }

  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const sdk = await loadSdk();
    const attempt = randomBytes(12).toString("hex");
    const sandbox = await createOrUndo({
      create: () => this.#create(sdk, request, attempt),
      end: (made) => this.destroy(made.sandboxId),
      sweep: () => this.#sweep(attempt),
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.#opened(sandbox, request);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const sdk = await loadSdk();
    const sandbox = await this.#calls.call(
      "find the sandbox",
      () =>
        sdk.Sandbox.connect(id, { ...this.#connection(), timeoutMs: this.#lifeOf(request) }).catch(
          undefinedWhenGone,
        ),
      request.signal,
    );
    return sandbox === undefined ? undefined : this.#opened(sandbox, request);
  }

  async destroy(id: string): Promise<void> {
    const sdk = await loadSdk();
    await this.#calls.call("end the sandbox", () =>
      sdk.Sandbox.kill(id, this.#connection()).catch(undefinedWhenGone),
    );
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy({ [LEASE_LABEL]: key });
  }

  #create(sdk: typeof E2b, request: OpenRequest, attempt: string): Promise<Sandbox> {
    const { network, template, labels, create, openTimeout } = this.#settings;
    return this.#calls.call("create a sandbox", () =>
      sdk.Sandbox.create(template, {
        ...create,
        ...this.#connection(),
        requestTimeoutMs: Math.ceil(openTimeout * 1000),
        metadata: { ...labels, [LEASE_LABEL]: request.key, [ATTEMPT_LABEL]: attempt },
        timeoutMs: this.#lifeOf(request),
        allowInternetAccess: network !== "none",
        ...(typeof network === "string"
          ? {}
          : { network: { allowOut: [...network.allow], denyOut: [EVERYWHERE] } }),
      }),
    );
  }

  #opened(sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const { env, timeout, maxOutputBytes, user } = this.#settings;
    const time = new SandboxTime(sandbox, this.#lifeOf(request));
    const machine = new E2bMachine(sandbox, this.#calls, {
      workingDirectory: this.workingDirectory,
      user,
      prolong: (milliseconds) => time.prolong(milliseconds),
    });
    let ended: Promise<void> | undefined;
    return {
      id: sandbox.sandboxId,
      sandbox: new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes }),
      keepAlive: () => this.#calls.call("keep the sandbox", () => time.renew()),
      detach: async () => undefined,
      destroy: async () => {
        machine.end();
        ended ??= this.destroy(sandbox.sandboxId).catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        await ended;
      },
    };
  }

  async #sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy({ [ATTEMPT_LABEL]: attempt })) await this.destroy(id);
  }

  async #findBy(metadata: Record<string, string>): Promise<readonly string[]> {
    const sdk = await loadSdk();
    return this.#calls.call("list sandboxes", async () => {
      const pages = sdk.Sandbox.list({ ...this.#connection(), query: { metadata } });
      const ids: string[] = [];
      while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId));
      return ids;
    });
  }

  /** Milliseconds. */
  #lifeOf({ ttl }: OpenRequest): number {
    return Math.max(1, Math.ceil(ttl ?? this.#settings.idleTimeout)) * 1000;
  }

  #connection(): E2b.ConnectionOpts {
    const { apiKey, domain, apiUrl, sandboxUrl, create } = this.#settings;
    return { proxy: create?.proxy, headers: create?.headers, apiKey, domain, apiUrl, sandboxUrl };
  }
}

/** One that its owner made and ends: it is used, and left alone. */
export function ownedE2bSandbox(handle: E2bHandle): SandboxProvider {
  const { sandbox, user, env, timeout, maxOutputBytes, workingDirectory } = handle;
  const calls = new E2bCalls(undefined);
  const open = (request: OpenRequest): OpenedSandbox => {
    const machine = new E2bMachine(sandbox, calls, { workingDirectory, user });
    const own = { env: { ...env, ...request.env }, timeout, maxOutputBytes };
    return borrowedSandbox(sandbox.sandboxId, new RemoteSandbox(machine, own));
  };
  return {
    name: "e2b",
    network: "open",
    workingDirectory,
    lendsPlace: true,
    open: async (request) => {
      request.signal?.throwIfAborted();
      return open(request);
    },
    reattach: async (id, request) => (id === sandbox.sandboxId ? open(request) : undefined),
  };
}

function loadSdk(): Promise<typeof E2b> {
  return loadVendor("e2b", () => import("e2b"));
}

function undefinedWhenGone(error: unknown): undefined {
  if (isGone(error)) return undefined;
  throw error;
}
