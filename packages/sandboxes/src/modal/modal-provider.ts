/** How Modal's sandboxes are made, found and ended. */
import type { App, Image, ModalClient, Sandbox } from "modal";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest, type SandboxProvider } from "../provider.ts";
import { ATTEMPT_LABEL, CloudProvider, ownedSandbox } from "../remote/cloud-provider.ts";
import { loadVendor } from "../remote/vendor.ts";
import { VendorCalls } from "../remote/vendor-calls.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { isGone, MODAL } from "./modal-errors.ts";
import { ModalMachine } from "./modal-machine.ts";
import type { ModalHandle, ModalSettings } from "./modal-options.ts";

const KEEP_ALIVE_SECONDS = 30;

export class ModalProvider extends CloudProvider<ModalClient, Sandbox> {
  readonly name = "modal";
  readonly #settings: ModalSettings;
  readonly #calls: VendorCalls;
  #prepared: Promise<{ readonly app: App; readonly image: Image }> | undefined;

  constructor(settings: ModalSettings) {
    super(settings, reachOf(settings.network));
    this.#settings = settings;
    this.#calls = new VendorCalls(MODAL, [settings.tokenSecret, settings.tokenId]);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const client = await this.connect();
    const sandbox = await client.sandboxes.fromId(id);
    const isThere = await this.#calls.call(
      "find the sandbox",
      () => sandbox.poll().then((exitCode) => exitCode === null, falseWhenGone),
      request.signal,
    );
    if (isThere) return this.opened(client, sandbox, request);
    sandbox.detach();
    return undefined;
  }

  async destroy(id: string): Promise<void> {
    const client = await this.connect();
    const sandbox = await client.sandboxes.fromId(id);
    try {
      await this.#calls.call("end the sandbox", () =>
        sandbox.terminate().then(() => undefined, undefinedWhenGone),
      );
    } finally {
      sandbox.detach();
    }
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy({ [LEASE_LABEL]: key });
  }

  protected async create(client: ModalClient, request: OpenRequest, attempt: string): Promise<Sandbox> {
    const { network, lifetime, idleTimeout, create, labels } = this.#settings;
    const { app, image } = await this.#prepare(client);
    // Building the image may have taken long: after an abort nothing more is started.
    request.signal?.throwIfAborted();
    return this.#calls.call("create a sandbox", () =>
      client.sandboxes.create(app, image, {
        ...create,
        tags: { ...labels, [LEASE_LABEL]: request.key, [ATTEMPT_LABEL]: attempt },
        timeoutMs: Math.ceil(lifetime) * 1000,
        idleTimeoutMs: Math.max(1, Math.ceil(request.ttl ?? idleTimeout)) * 1000,
        blockNetwork: network === "none",
        ...(typeof network === "string" ? {} : { outboundDomainAllowlist: [...network.allow] }),
      }),
    );
  }

  protected opened(_client: ModalClient, sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const machine = new ModalMachine(sandbox, this.#calls, this.workingDirectory);
    const keepAlive = async () => {
      // Modal counts idle time from the end of the last command.
      const signal = AbortSignal.timeout(KEEP_ALIVE_SECONDS * 1000);
      await machine.run("echo", { timeoutSeconds: KEEP_ALIVE_SECONDS, signal });
    };
    const end = async () => {
      await this.destroy(sandbox.sandboxId);
      sandbox.detach();
    };
    return this.hold({ machine, keepAlive, end, detach: () => sandbox.detach() }, request);
  }

  protected end(sandbox: Sandbox): Promise<unknown> {
    return sandbox.terminate();
  }

  protected async sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy({ [ATTEMPT_LABEL]: attempt })) await this.destroy(id);
  }

  async #findBy(tags: Record<string, string>): Promise<readonly string[]> {
    const client = await this.connect();
    return this.#calls.call("list sandboxes", async () => {
      const app = await client.apps.fromName(this.#settings.app).catch(undefinedWhenGone);
      if (app === undefined) return [];
      const ids: string[] = [];
      for await (const sandbox of client.sandboxes.list({ appId: app.appId, tags })) {
        ids.push(sandbox.sandboxId);
        sandbox.detach();
      }
      return ids;
    });
  }

  protected async makeClient(): Promise<ModalClient> {
    const { client, tokenId, tokenSecret, environment } = this.#settings;
    if (client !== undefined) return client;
    const modal = await loadVendor("modal", () => import("modal"));
    return this.#calls.call(
      "be reached",
      async () => new modal.ModalClient({ tokenId, tokenSecret, environment }),
    );
  }

  /** The app and the built image are the same for all. */
  #prepare(client: ModalClient): Promise<{ readonly app: App; readonly image: Image }> {
    this.#prepared ??= this.#makeImage(client).catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #makeImage(client: ModalClient): Promise<{ readonly app: App; readonly image: Image }> {
    const { app: name, image: tag } = this.#settings;
    const app = await this.#calls.call("find or make the app", () =>
      client.apps.fromName(name, { createIfMissing: true }),
    );
    const image = await this.#calls.call(`prepare the image '${tag}'`, async () =>
      tag.startsWith("im-") ? client.images.fromId(tag) : client.images.fromRegistry(tag).build(app),
    );
    return { app, image };
  }
}

export function ownedModalSandbox(handle: ModalHandle): SandboxProvider {
  const { sandbox, workingDirectory } = handle;
  const calls = new VendorCalls(MODAL, []);
  return ownedSandbox(handle, {
    name: "modal",
    network: "open",
    id: sandbox.sandboxId,
    machine: () => new ModalMachine(sandbox, calls, workingDirectory),
  });
}

function falseWhenGone(error: unknown): false {
  if (isGone(error)) return false;
  throw error;
}

function undefinedWhenGone(error: unknown): undefined {
  if (isGone(error)) return undefined;
  throw error;
}
