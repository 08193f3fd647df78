/** createSandbox: assigns sandboxes to threads and assistants, and ends them. */
import { type BackendRuntime, SandboxError } from "deepwright";
import type { WithApprovalDemand } from "deepwright/approval-demand";
import type { Sandbox, SandboxProvider } from "../provider.ts";
import { keyOfLease, keyOfRun } from "./lease-key.ts";
import { LeaseSlot } from "./lease-slot.ts";
import { providerNamed } from "./named-providers.ts";
import { type CreateSandboxOptions, readOptions, type Settings } from "./options.ts";
import { ReplacedNotes } from "./replaced-note.ts";
import { SandboxView } from "./sandbox-view.ts";
import { checkSeen, demandApprovalForSecrets } from "./secrets-approval.ts";

/** The right to a sandbox's life. The program that runs the agent holds it, never a tool. */
export interface Lease {
  /** By which the provider knows the place. */
  readonly id: string;
  /** For tools. */
  readonly sandbox: Sandbox;
  /** Tells the place that it is still needed. */
  keepAlive(): Promise<void>;
  /**
   * Ends the sandbox. The sandbox of an assistant is only released, because others use it too. `keep` decides
   * otherwise: a kept sandbox can be found again by its key, if the provider can. Calling it twice is safe.
   */
  release(options?: { readonly keep?: boolean }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A backend for `createDeepAgent`, and the leases of the sandboxes behind it. */
export interface SandboxSource extends WithApprovalDemand {
  (runtime: BackendRuntime): Promise<Sandbox>;
  readonly mayExecute: true;
  readonly usesState: false;
  /**
   * Opens or finds the sandbox of a thread, or of an assistant; `key` is its id. Absent: a private one, or the one with
   * the `name` in the options.
   */
  lease(key?: string | null, options?: { readonly signal?: AbortSignal }): Promise<Lease>;
  /**
   * Releases all sandboxes: those that can be found again stay until their time is up, and the others end. With `keep:
   * false` all end. Calling it twice is safe.
   */
  close(options?: { readonly keep?: boolean }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Leases from a provider; it opens nothing until something is done in a sandbox. */
export function createSandbox(options: CreateSandboxOptions): SandboxSource {
  const leases = new Leases(readOptions(options));
  const source = (runtime: BackendRuntime): Promise<Sandbox> => leases.ofRun(runtime);
  return leases.demanding(
    Object.assign(source, {
      mayExecute: true,
      usesState: false,
      lease: (key?: string | null, given?: { readonly signal?: AbortSignal }) =>
        leases.lease(key ?? undefined, given?.signal),
      close: (given?: { readonly keep?: boolean }) => leases.close(given?.keep ?? true),
      [Symbol.asyncDispose]: () => leases.close(true),
    } as const),
  );
}

/** Slots that hold no sandbox are remembered, for the words about a sandbox that was replaced, up to this many. */
const MOST_IDLE_SLOTS = 10_000;

interface Entry {
  readonly slot: LeaseSlot;
  readonly notes: ReplacedNotes;
  /** The key is random and not given to anyone. */
  readonly isPrivate: boolean;
}

class Leases {
  readonly #settings: Settings;
  readonly #entries = new Map<string, Entry>();
  #provider: Promise<SandboxProvider> | undefined;
  #isClosed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async ofRun(runtime: BackendRuntime): Promise<Sandbox> {
    if (this.#hasSecrets) checkSeen(runtime);
    const key = keyOfRun(this.#settings, runtime);
    return this.#view(await this.#entry(key), runtime);
  }

  async lease(given: string | undefined, signal: AbortSignal | undefined): Promise<Lease> {
    signal?.throwIfAborted();
    const key = keyOfLease(this.#settings, given);
    const entry = await this.#entry(key, key.startsWith("own-"));
    const { slot } = entry;
    try {
      await slot.ready({ signal });
    } catch (error) {
      if (entry.isPrivate) this.#abandon(key, entry);
      throw error;
    }
    let id = slot.id ?? "";
    const release = async (keep = this.#settings.scope === "assistant"): Promise<void> => {
      await slot.release({ keep: keep && !entry.isPrivate });
      this.#forget(key, entry);
    };
    return {
      get id() {
        id = slot.id ?? id;
        return id;
      },
      sandbox: this.demanding(this.#view(entry)),
      keepAlive: () => slot.keepAlive(),
      release: (options) => release(options?.keep),
      [Symbol.asyncDispose]: () => release(),
    };
  }

  async close(keep: boolean): Promise<void> {
    this.#isClosed = true;
    const entries = [...this.#entries];
    const ended = await Promise.allSettled(
      entries.map(async ([key, entry]) => {
        await entry.slot.release({ keep: keep && !entry.isPrivate });
        this.#forget(key, entry);
      }),
    );
    const failed = ended.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  /** Marks the result if a person must approve every call. */
  demanding<Handed extends object>(handed: Handed): Handed & WithApprovalDemand {
    return this.#hasSecrets ? demandApprovalForSecrets(handed) : handed;
  }

  get #hasSecrets(): boolean {
    return Object.keys(this.#settings.secrets).length > 0;
  }

  #view({ slot, notes }: Entry, runtime?: BackendRuntime): Sandbox {
    return new SandboxView({ slot, notes, secrets: this.#settings.secrets, runtime });
  }

  async #entry(key: string, isPrivate = false): Promise<Entry> {
    const provider = await this.#loaded();
    if (this.#isClosed) throw new SandboxError("The sandboxes were closed.", "NOT_INITIALIZED");
    const known = this.#entries.get(key);
    if (known !== undefined && !known.slot.isReleased) return known;
    if (known !== undefined) {
      await known.slot.ended();
      this.#forget(key, known);
      return this.#entry(key, isPrivate);
    }
    this.#forgetIdle();
    const slot = new LeaseSlot(key, provider, this.#settings);
    const entry: Entry = { slot, notes: new ReplacedNotes(), isPrivate };
    this.#entries.set(key, entry);
    return entry;
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  /** Ends a sandbox that may still be opening; closing waits for that. */
  #abandon(key: string, entry: Entry): void {
    entry.slot.release({ keep: false }).then(
      () => this.#forget(key, entry),
      () => {
        // It stays, and closing tries again.
      },
    );
  }

  #forgetIdle(): void {
    if (this.#entries.size < MOST_IDLE_SLOTS) return;
    for (const [key, { slot }] of this.#entries) if (slot.isIdle) this.#entries.delete(key);
  }

  /** Once; after a failure again. */
  #loaded(): Promise<SandboxProvider> {
    const { provider } = this.#settings;
    this.#provider ??= (
      typeof provider === "string" ? providerNamed(provider) : Promise.resolve(provider)
    ).then((loaded) => this.#checked(loaded));
    this.#provider.catch(() => {
      this.#provider = undefined;
    });
    return this.#provider;
  }

  #checked(provider: SandboxProvider): SandboxProvider {
    if (!this.#hasSecrets || provider.network === "none") return provider;
    throw new SandboxError("A sandbox with secrets must have no network, and this one has.", "ACCESS_DENIED");
  }
}
