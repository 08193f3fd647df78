/** State that a saver remembers of one thread, so that the next checkpoint costs only its changes. */
import { isForSavers, returnCount, stampOf } from "deepwright/channel-values";
import type { Handle } from "./handle.ts";
import { type KnownPieces, textHandle } from "./text-object.ts";
import type { Tree } from "./trees.ts";

interface Stored {
  readonly memory: ThreadMemory;
  readonly handle: Handle;
  readonly stamp: number | undefined;
}

export interface ListMemo {
  readonly tree: Tree;
  readonly list: readonly unknown[];
  /** Length of `list` at that time: a list edited in place is another list. */
  readonly length: number;
  readonly returns: number;
}

export interface MapMemo {
  readonly tree: Tree;
  readonly map: Readonly<Record<string, unknown>>;
  readonly groups: readonly (readonly string[])[];
  readonly returns: number;
}

/** Objects of loops of all threads; the entry names the thread it is valid for. */
const stored = new WeakMap<object, Stored>();

const IDLE_MS = 30_000;
const MOST_SMALL = 64;
const LONG_TEXT = 4_096;
const MOST_TEXTS = 4;
const MOST_PIECES = 2_048;

interface KnownText {
  readonly text: string;
  readonly handle: Handle;
}

/**
 * Valid for one epoch of one thread in one saver: thrown away as a whole when objects may be gone.
 *
 * Holds the last lists and maps of the channels only while the thread is being written to.
 */
export class ThreadMemory implements KnownPieces {
  private readonly lists = new Map<string, ListMemo>();
  private readonly maps = new Map<string, MapMemo>();
  private readonly small = new Map<string, Handle>();
  private readonly texts: KnownText[] = [];
  /** Handles of files and messages, for as long as these exist. */
  private readonly held = new WeakMap<object, readonly KnownText[]>();
  private readonly pieces = new Map<string, Handle>();
  private idle: NodeJS.Timeout | undefined;

  constructor(public epoch: number) {}

  /** The handle of an object that a loop put into a channel, if the object has not changed since it was stored. */
  known(value: object): Handle | undefined {
    const entry = stored.get(value);
    return entry?.memory === this && entry.stamp === stampOf(value) ? entry.handle : undefined;
  }

  remember(value: object, handle: Handle): void {
    stored.set(value, { memory: this, handle, stamp: stampOf(value) });
  }

  list(key: string): ListMemo | undefined {
    return this.lists.get(key);
  }

  map(key: string): MapMemo | undefined {
    return this.maps.get(key);
  }

  rememberList(key: string, tree: Tree, list: readonly unknown[]): void {
    this.lists.set(key, { tree, list, length: list.length, returns: returnCount() });
    this.touched();
  }

  rememberMap(
    key: string,
    tree: Tree,
    map: Readonly<Record<string, unknown>>,
    groups: MapMemo["groups"],
  ): void {
    this.maps.set(key, { tree, map, groups, returns: returnCount() });
    this.touched();
  }

  /**
   * A long text is met as a write and again in the checkpoint after it, usually in the same object, its `holder`. The
   * holder may change, but a text cannot.
   */
  text(text: string, holder: object | undefined): Handle {
    if (text.length < LONG_TEXT) return textHandle(text, this);
    const held = holder && this.held.get(holder);
    const known =
      held?.find((entry) => entry.text === text) ?? this.texts.find((entry) => entry.text === text);
    if (known) return known.handle;
    const entry = { text, handle: textHandle(text, this) };
    if (holder) this.held.set(holder, [entry, ...(held ?? [])].slice(0, MOST_TEXTS));
    this.texts.unshift(entry);
    this.texts.length = Math.min(this.texts.length, MOST_TEXTS);
    this.touched();
    return entry.handle;
  }

  /** A long text that was edited, or is much like another, is for the most part stored already. */
  piece(hash: string): Handle | undefined {
    return this.pieces.get(hash);
  }

  keepPiece(handle: Handle): void {
    if (this.pieces.size >= MOST_PIECES) this.pieces.delete(this.pieces.keys().next().value as string);
    this.pieces.set(handle.hash, handle);
  }

  /** Small contents that are used again and again, such as the names of the channels. */
  recent(handle: Handle): Handle {
    const known = this.small.get(handle.hash);
    if (known) return known;
    if (this.small.size >= MOST_SMALL) this.small.delete(this.small.keys().next().value as string);
    this.small.set(handle.hash, handle);
    return handle;
  }

  /** An idle thread must not keep its messages in memory. */
  private touched(): void {
    if (this.idle) this.idle.refresh();
    else
      this.idle = setTimeout(() => {
        this.idle = undefined;
        this.lists.clear();
        this.maps.clear();
        this.texts.length = 0;
        this.pieces.clear();
      }, IDLE_MS).unref();
  }
}

export { isForSavers, returnCount };
