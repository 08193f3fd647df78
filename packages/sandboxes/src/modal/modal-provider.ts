/** How Modal's sandboxes are made, found and ended. */
import { randomBytes } from "node:crypto";
import type { App, Image, ModalClient, Sandbox } from "modal";
import { borrowedSandbox } from "../borrowed-sandbox.ts";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest, type SandboxProvider } from "../provider.ts";
import { createOrUndo } from "../remote/create-or-undo.ts";
import { RemoteSandbox } from "../remote/remote-sandbox.ts";
import { loadVendor } from "../remote/vendor.ts";
import { reachOf } from "../remote/vendor-network.ts";
import { isGone, ModalCalls } from "./modal-errors.ts";
import { ModalMachine } from "./modal-machine.ts";
import type { ModalHandle, ModalSettings } from "./modal-options.ts";

/** Holds a value made for one creation, by which it is found when its answer was lost. */
const ATTEMPT_LABEL = "deepwright-attempt";

const KEEP_ALIVE_SECONDS = 30;

export class ModalProvider implements SandboxProvider {
  readonly name = "modal";
  readonly network;
  readonly workingDirectory: string;
  readonly #settings: ModalSettings;
  readonly #calls: ModalCalls;
  #client: Promise<ModalClient> | undefined;
  #prepared: Promise<{ readonly app: App; readonly image: Image }> | undefined;

  constructor(settings: ModalSettings) {
    this.#settings = settings;
    this.network = reachOf(settings.network);
    this.workingDirectory = settings.workingDirectory;
    this.#calls = new ModalCalls([settings.tokenSecret, settings.tokenId]);
  }

  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const client = await this.#connect();
    const attempt = randomBytes(12).toString("hex");
    const sandbox = await createOrUndo({
      create: () => this.#create(client, request, attempt),
      end: (made) => made.terminate(),
      sweep: () => this.#sweep(attempt),
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.#opened(sandbox, request);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const sandbox = await this.#sandboxOf(id);
    const isThere = await this.#calls.call(
      "find the sandbox",
      () => sandbox.poll().then((exitCode) => exitCode === null, falseWhenGone),
      request.signal,
    );
    if (isThere) return this.#opened(sandbox, request);
    sandbox.detach();
    return undefined;
  }

  async destroy(id: string): Promise<void> {
    const sandbox = await this.#sandboxOf(id);
    try {
      await this.#terminate(sandbox);
    } finally {
      sandbox.detach();
    }
  }

  async find(key: string): Promise<readonly string[]> {
    return this.#findBy({ [LEASE_LABEL]: key });
  }

  async #create(client: ModalClient, request: OpenRequest, attempt: string): Promise<Sandbox> {
    const { network, lifetime, idleTimeout, create, labels } = this.#settings;
    const { app, image } = await this.#prepare(client);
    // The image may have taken long: nothing is begun for someone who has left.
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

  #opened(sandbox: Sandbox, request: OpenRequest): OpenedSandbox {
    const machine = new ModalMachine(sandbox, this.#calls, this.workingDirectory);
    const { env, timeout, maxOutputBytes } = this.#settings;
    let ended: Promise<void> | undefined;
    return {
      id: sandbox.sandboxId,
      sandbox: new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes }),
      keepAlive: async () => {
        // Modal counts idle time from the end of the last command.
        const signal = AbortSignal.timeout(KEEP_ALIVE_SECONDS * 1000);
        await machine.run("echo", { timeoutSeconds: KEEP_ALIVE_SECONDS, signal });
      },
      detach: async () => sandbox.detach(),
      destroy: async () => {
        machine.end();
        ended ??= this.destroy(sandbox.sandboxId);
        await ended.catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        sandbox.detach();
      },
    };
  }

  async #terminate(sandbox: Sandbox): Promise<void> {
    await this.#calls.call("end the sandbox", () =>
      sandbox.terminate().then(() => undefined, undefinedWhenGone),
    );
  }

  async #sweep(attempt: string): Promise<void> {
    for (const id of await this.#findBy({ [ATTEMPT_LABEL]: attempt })) await this.destroy(id);
  }

  async #findBy(tags: Record<string, string>): Promise<readonly string[]> {
    const client = await this.#connect();
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

  async #sandboxOf(id: string): Promise<Sandbox> {
    const client = await this.#connect();
    return client.sandboxes.fromId(id);
  }

  #connect(): Promise<ModalClient> {
    this.#client ??= this.#makeClient().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #makeClient(): Promise<ModalClient> {
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

/** One that its owner made and ends: it is used, and left alone. */
export function ownedModalSandbox(handle: ModalHandle): SandboxProvider {
  const { sandbox, env, timeout, maxOutputBytes, workingDirectory } = handle;
  const calls = new ModalCalls([]);
  const open = (request: OpenRequest): OpenedSandbox => {
    const machine = new ModalMachine(sandbox, calls, workingDirectory);
    const own = { env: { ...env, ...request.env }, timeout, maxOutputBytes };
    return borrowedSandbox(sandbox.sandboxId, new RemoteSandbox(machine, own));
  };
  return {
    name: "modal",
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

function falseWhenGone(error: unknown): false {
  if (isGone(error)) return false;
  throw error;
}

function undefinedWhenGone(error: unknown): undefined {
  if (isGone(error)) return undefined;
  throw error;
}
