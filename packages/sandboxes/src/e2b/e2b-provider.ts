/** How E2B's sandboxes are made, found and ended. */
import type * as E2b from "e2b";
import type { Sandbox } from "e2b";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest, type SandboxProvider } from "../provider.ts";
import { ATTEMPT_LABEL, CloudProvider, ownedSandbox } from "../remote/cloud-provider.ts";
import { loadVendor } from "../remote/vendor.ts";
import { VendorCalls } from "../remote/vendor-calls.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { E2B, isGone } from "./e2b-errors.ts";
import { E2bMachine } from "./e2b-machine.ts";
import type { E2bHandle, E2bSettings } from "./e2b-options.ts";
import { SandboxTime } from "./sandbox-time.ts";

/** All addresses, for a list of refused ones. */
const EVERYWHERE = "0.0.0.0/0";

export class E2bProvider extends CloudProvider<typeof E2b, Sandbox> {
  readonly name = "e2b";
  readonly #settings: E2bSettings;
  readonly #calls: VendorCalls;

  constructor(settings: E2bSettings) {
    super(settings, reachOf(settings.network));
    this.#settings = settings;
    this.#calls = new VendorCalls(E2B, [settings.apiKey]);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const sdk = await this.connect();
    const sandbox = await this.#calls.call(
      "find the sandbox",
      () =>
        sdk.Sandbox.connect(id, { ...this.#connection(), timeoutMs: this.#lifeOf(request) }).catch(
          undefinedWhenGone,
        ),
      request.signal,
    );
    return sandbox === undefined ? undefined : this.opened(sdk, sandbox, request);
  }

  async destroy(id: string): Promise<void> {
    const sdk = await this.connect();
    await this.#calls.call("end the sandbox", () =>
      sdk.Sandbox.kill(id, this.#connection()).catch(undefinedWhenGone),
    );
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy({ [LEASE_LABEL]: key });
  }

  protected makeClient(): Promise<typeof E2b> {
    return loadVendor("e2b", () => import("e2b"));
  }

  protected create(sdk: typeof E2b, request: OpenRequest, attempt: string): Promise<Sandbox> {
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

  protected opened(_sdk: typeof E2b, sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const time = new SandboxTime(sandbox, this.#lifeOf(request));
    const machine = new E2bMachine(sandbox, this.#calls, {
      workingDirectory: this.workingDirectory,
      user: this.#settings.user,
      prolong: (milliseconds) => time.prolong(milliseconds),
    });
    const keepAlive = () => this.#calls.call("keep the sandbox", () => time.renew());
    return this.hold({ machine, keepAlive, end: () => this.end(sandbox) }, request);
  }

  protected end({ sandboxId }: Sandbox): Promise<void> {
    return this.destroy(sandboxId);
  }

  protected async sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy({ [ATTEMPT_LABEL]: attempt })) await this.destroy(id);
  }

  async #findBy(metadata: Record<string, string>): Promise<readonly string[]> {
    const sdk = await this.connect();
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

export function ownedE2bSandbox(handle: E2bHandle): SandboxProvider {
  const { sandbox, user, workingDirectory } = handle;
  const calls = new VendorCalls(E2B, []);
  return ownedSandbox(handle, {
    name: "e2b",
    network: "open",
    id: sandbox.sandboxId,
    machine: () => new E2bMachine(sandbox, calls, { workingDirectory, user }),
  });
}

function undefinedWhenGone(error: unknown): undefined {
  if (isGone(error)) return undefined;
  throw error;
}
