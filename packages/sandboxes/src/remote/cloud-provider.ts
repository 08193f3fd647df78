/** The common part of the cloud providers: how a sandbox is created once, found again, held and ended. */
import { createHash, randomBytes } from "node:crypto";
import { borrowedSandbox } from "../borrowed-sandbox.ts";
import type { NetworkReach, OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { createOrUndo } from "./create-or-undo.ts";
import { type RemoteMachine, RemoteSandbox } from "./remote-sandbox.ts";

/** Label with a value made for one creation. It finds the sandbox when the answer to the creation was lost. */
export const ATTEMPT_LABEL = "deepwright-attempt";

export interface CommandSettings {
  readonly workingDirectory: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeout?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
}

export interface CloudSettings extends CommandSettings {
  /** Seconds a creation may take. */
  readonly openTimeout: number;
}

/** A machine of a provider that can be marked as ended. */
export type EndableMachine = RemoteMachine & { end(): void };

export interface HeldMachine {
  readonly machine: EndableMachine;
  /** Ends the sandbox at the vendor; no error when it is gone. */
  end(): Promise<void>;
  keepAlive?(): Promise<void>;
  /** Closes connections of this process. */
  detach?(): void;
}

export abstract class CloudProvider<Client, Made> implements SandboxProvider {
  abstract readonly name: string;
  readonly network: NetworkReach;
  readonly workingDirectory: string;
  readonly #settings: CloudSettings;
  #client: Promise<Client> | undefined;

  constructor(settings: CloudSettings, network: NetworkReach) {
    this.#settings = settings;
    this.network = network;
    this.workingDirectory = settings.workingDirectory;
  }

  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const client = await this.connect();
    const attempt = this.attemptOf(request);
    const made = await createOrUndo({
      create: () => this.create(client, request, attempt),
      end: (made) => this.end(made),
      sweep: () => this.sweep(attempt),
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.opened(client, made, request);
  }

  abstract reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined>;
  abstract destroy(id: string): Promise<void>;
  abstract find(key: string): Promise<readonly string[]>;

  protected abstract makeClient(): Promise<Client>;
  /** Throws a `SandboxError`. */
  protected abstract create(client: Client, request: OpenRequest, attempt: string): Promise<Made>;
  protected abstract end(made: Made): Promise<unknown>;
  /** Ends the sandboxes of one attempt. */
  protected abstract sweep(attempt: string): Promise<unknown>;
  protected abstract opened(client: Client, made: Made, request: OpenRequest): OpenedSandbox;

  /** Identifies one creation at the vendor. */
  protected attemptOf(_request: OpenRequest): string {
    return randomBytes(12).toString("hex");
  }

  /** Makes the client once; a failure is not remembered. */
  protected connect(): Promise<Client> {
    this.#client ??= this.makeClient().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  protected hold({ machine, end, keepAlive, detach }: HeldMachine, request: OpenRequest): OpenedSandbox {
    let ended: Promise<void> | undefined;
    return {
      id: machine.id,
      sandbox: remoteSandbox(machine, this.#settings, request),
      ...(keepAlive && { keepAlive }),
      detach: async () => detach?.(),
      destroy: async () => {
        machine.end();
        ended ??= end().catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        await ended;
      },
    };
  }
}

export interface OwnedMachine {
  readonly name: string;
  readonly network: NetworkReach;
  readonly id: string;
  machine(): RemoteMachine | Promise<RemoteMachine>;
  keepAlive?(machine: RemoteMachine): Promise<void>;
}

/** Provider of one sandbox that its owner made and ends. It is used and left alone. */
export function ownedSandbox(settings: CommandSettings, owned: OwnedMachine): SandboxProvider {
  const { name, network, id, keepAlive } = owned;
  const open = async (request: OpenRequest): Promise<OpenedSandbox> => {
    request.signal?.throwIfAborted();
    const machine = await owned.machine();
    const opened = borrowedSandbox(id, remoteSandbox(machine, settings, request));
    return keepAlive === undefined ? opened : { ...opened, keepAlive: () => keepAlive(machine) };
  };
  return {
    name,
    network,
    workingDirectory: settings.workingDirectory,
    isBorrowed: true,
    open,
    reattach: async (given, request) => (given === id ? open(request) : undefined),
  };
}

/** A new name of a sandbox for a lease, for vendors without labels. It has at most 60 characters. */
export function newLeaseName(key: string): string {
  return `${leasePrefix(key)}${randomBytes(8).toString("hex")}`;
}

export function isLeaseName(name: string, key: string): boolean {
  const prefix = leasePrefix(key);
  return name.startsWith(prefix) && /^[0-9a-f]{16}$/.test(name.slice(prefix.length));
}

function leasePrefix(key: string): string {
  return `deepwright-${createHash("sha256").update(key).digest("hex").slice(0, 32)}-`;
}

function remoteSandbox(
  machine: RemoteMachine,
  { env, timeout, maxOutputBytes }: CommandSettings,
  request: OpenRequest,
): RemoteSandbox {
  return new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes });
}
