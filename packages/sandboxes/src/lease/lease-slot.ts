/** The sandbox of one key in this process: opened when it is first needed, kept while it is used, ended in time. */
import { SandboxError } from "deepwright";
import { countOpenSandbox } from "deepwright/internal";
import type { OpenedSandbox, Sandbox, SandboxProvider } from "../provider.ts";
import { type FoundSandbox, findOrOpen, isLost } from "./find-or-open.ts";
import { inTurn } from "./in-turn.ts";
import type { NotedIds } from "./noted-id.ts";
import type { Settings } from "./options.ts";
import { SharedTask } from "./shared-task.ts";
import { type Upkeep, upkeepOf } from "./upkeep.ts";

/** The sandbox of one operation. */
export interface HeldSandbox {
  readonly sandbox: Sandbox;
  /** Counts the sandboxes of this key in this process. */
  readonly generation: number;
  readonly isFresh: boolean;
  readonly isReplacement: boolean;
}

interface Held extends HeldSandbox {
  readonly opened: OpenedSandbox;
  readonly upkeep: Upkeep;
  /** Something was done in it. */
  hasWorked: boolean;
  /** Ends its place in the count of open sandboxes. */
  readonly uncount: () => void;
}

export interface Use {
  readonly signal?: AbortSignal | undefined;
  readonly noted?: NotedIds | undefined;
}

export class LeaseSlot {
  readonly key: string;
  readonly provider: SandboxProvider;
  readonly #settings: Settings;
  readonly #opening: SharedTask<Held>;
  /** Ids of places that answer nothing or are being ended. */
  readonly #dead = new Set<string>();
  /** Sandboxes that are being released or ended; only `close` waits for them. */
  readonly #endings = new Set<Promise<void>>();
  #noted: NotedIds | undefined;
  #held: Held | undefined;
  #lastId: string | undefined;
  #generation = 0;
  #isReleased = false;
  #releasing: Promise<void> | undefined;

  constructor(key: string, provider: SandboxProvider, settings: Settings) {
    this.key = key;
    this.provider = provider;
    this.#settings = settings;
    this.#opening = new SharedTask((signal) => this.#open(signal));
  }

  /** Absent: none is open. */
  get id(): string | undefined {
    return this.#held?.opened.id;
  }

  /** Neither open nor about to be. */
  get isIdle(): boolean {
    return this.#held === undefined && !this.#opening.isRunning;
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Resolves when the release under way has ended; its error goes to the caller of the release. */
  async ended(): Promise<void> {
    await this.#releasing?.catch(() => {});
  }

  /** Opens it if it is not. */
  async ready({ signal, noted }: Use = {}): Promise<HeldSandbox> {
    return this.#acquire(signal, noted);
  }

  /** Works in the sandbox. If the sandbox is lost meanwhile, this call throws, and the next call gets a new one. */
  async use<Result>(use: Use, act: (held: HeldSandbox) => Promise<Result>): Promise<Result> {
    const held = await this.#acquire(use.signal, use.noted);
    held.upkeep.begin();
    try {
      const result = await act(held);
      held.hasWorked = true;
      return result;
    } catch (error) {
      if (isLost(error)) this.#lose(held);
      throw error;
    } finally {
      held.upkeep.end();
    }
  }

  /** Tells the place that it is needed, and begins its time without use anew. */
  async keepAlive(): Promise<void> {
    const held = await this.#acquire(undefined, undefined);
    held.upkeep.begin();
    try {
      await held.opened.keepAlive?.();
    } finally {
      held.upkeep.end();
    }
  }

  /** Ends it, or with `keep` lets go of it where it can be found again. Safe twice; after a failure it tries again. */
  async release({ keep }: { readonly keep: boolean }): Promise<void> {
    this.#isReleased = true;
    this.#releasing ??= this.#end(keep).finally(() => {
      this.#releasing = undefined;
    });
    await this.#releasing;
  }

  async #end(keep: boolean): Promise<void> {
    await this.#opening.stop(released());
    const held = this.#held;
    if (held !== undefined) await this.#letGo(held, keep);
    held?.uncount();
    this.#held = undefined;
    await Promise.all(this.#endings);
  }

  async #letGo(held: Held, keep: boolean): Promise<void> {
    held.upkeep.stop();
    const canBeFound =
      this.provider.reattach !== undefined && (this.provider.find ?? this.#noted) !== undefined;
    await (keep && canBeFound ? held.opened.detach() : held.opened.destroy());
  }

  async #acquire(signal: AbortSignal | undefined, noted: NotedIds | undefined): Promise<Held> {
    signal?.throwIfAborted();
    if (this.#isReleased) throw released();
    this.#noted ??= noted;
    return this.#held ?? this.#opening.join(signal);
  }

  async #open(signal: AbortSignal): Promise<Held> {
    const { key, provider } = this;
    const settings = this.#settings;
    const open = (): Promise<FoundSandbox> =>
      findOrOpen({
        key,
        provider,
        settings,
        lastId: this.#lastId,
        dead: this.#dead,
        noted: this.#noted,
        signal,
      });
    // Two agents of one thread share a sandbox: half-finished work of the other is not a crash.
    const isShared = settings.scope === "thread";
    return this.#hold(await (isShared ? inTurn(`${provider.name} ${key}`, signal, open) : open()));
  }

  #hold({ opened, isFresh, isReplacement }: FoundSandbox): Held {
    if (isFresh) this.#generation += 1;
    const upkeep = upkeepOf(opened, this.#settings.ttl, () => this.#expire(held));
    const { sandbox } = opened;
    const held: Held = {
      opened,
      sandbox,
      upkeep,
      isFresh,
      isReplacement,
      generation: this.#generation,
      hasWorked: false,
      uncount: countOpenSandbox(this.provider.name),
    };
    this.#held = held;
    this.#lastId = opened.id;
    this.#dead.delete(opened.id);
    if (isReplacement) this.#settings.onReplaced?.({ key: this.key, id: opened.id });
    return held;
  }

  /** A sandbox that worked may only be out of reach: it is searched for. One that never worked is given up. */
  #lose(held: Held): void {
    if (this.#held !== held) return;
    this.#held = undefined;
    held.uncount();
    held.upkeep.stop();
    if (!held.hasWorked) this.#dead.add(held.opened.id);
    this.#inBackground(held.hasWorked ? held.opened.detach() : held.opened.destroy());
  }

  /** Another process may be using a shared sandbox: its provider ends it. */
  #expire(held: Held): void {
    if (this.#held !== held) return;
    this.#held = undefined;
    held.uncount();
    if (this.#settings.scope === "thread") this.#dead.add(held.opened.id);
    this.#inBackground(this.#letGo(held, this.#settings.scope === "assistant"));
  }

  #inBackground(ending: Promise<void>): void {
    const quiet = ending
      .catch(() => {
        // It has gone, or its own time will end it.
      })
      .finally(() => this.#endings.delete(quiet));
    this.#endings.add(quiet);
  }
}

function released(): SandboxError {
  return new SandboxError("The sandbox was released.", "NOT_INITIALIZED");
}
