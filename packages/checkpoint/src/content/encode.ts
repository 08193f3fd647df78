/** Values into objects: long texts, messages, files and collections each get one of their own. */
import { DeepwrightError } from "deepwright/errors";
import { Handle, KIND } from "./handle.ts";
import { InertWriter, isPlainObject, type Json, type Outlining } from "./inert.ts";
import { classTag } from "./messages.ts";
import { bytesHandle, textHandle } from "./text-object.ts";
import { isForSavers, type ListMemo, type MapMemo, returnCount, type ThreadMemory } from "./thread-memory.ts";
import { BRANCH_OF, joinLeaves, keyGroups, LEAF_SIZE } from "./trees.ts";

/** Texts of this length and more are objects of their own. */
const LONG_TEXT = 1_024;
const LONG_BYTES = 256;
/** Lists and maps within a value are kept in it up to this size. */
const MANY = 64;
/** An element of a collection that is shorter than this, and no message, stays in its leaf. */
const SMALL_ELEMENT = 128;
/** A collection that is shorter than this stays where it is used. */
const SMALL_COLLECTION = 96;
/** Largest size of one value, counted in characters. */
const MOST_WEIGHT = 2 ** 30;

/** JSON text and the targets of its `{"$": n}`. */
export interface Encoded {
  readonly text: string;
  readonly refs: readonly Handle[];
}

export class Encoder implements Outlining {
  private readonly writer = new InertWriter(this);
  private refs: Handle[] = [];
  private repeated = 0;
  private met = new Map<object, Handle>();
  /** The element that is being written. */
  private holder: object | undefined;

  constructor(private readonly memory: ThreadMemory) {}

  /** One JSON text for all the values. The objects it names may be shared with other texts. `key` names a channel. */
  encode(values: readonly { readonly value: unknown; readonly key?: string }[]): Encoded & { json: Json[] } {
    this.met = new Map();
    return guarded(() => {
      const { result: json, refs } = this.within(() => values.map(({ value, key }) => this.top(value, key)));
      for (const ref of refs)
        if (ref.weight > MOST_WEIGHT)
          throw notStorable("it is larger than 1 GiB with everything it refers to");
      return { text: JSON.stringify(json), refs, json };
    });
  }

  /** A value as an object of its own. */
  object(value: unknown): Handle {
    this.met = new Map();
    return guarded(() => {
      const { result, refs, repeated } = this.within(() => this.writer.write(value));
      return new Handle(KIND.value, refs, JSON.stringify(result), repeated);
    });
  }

  content(content: string | Uint8Array): Handle {
    return typeof content === "string"
      ? textHandle(content, this.memory)
      : bytesHandle(content, KIND.bytes, KIND.joinedBytes);
  }

  outline(value: unknown): Json | undefined {
    if (typeof value === "string")
      return value.length < LONG_TEXT ? undefined : this.place(this.memory.text(value, this.holder));
    if (typeof value !== "object" || value === null) return undefined;
    if (value instanceof Uint8Array)
      return value.length < LONG_BYTES
        ? undefined
        : this.place(bytesHandle(value, KIND.bytes, KIND.joinedBytes));
    if (Array.isArray(value))
      return value.length > MANY ? this.place(this.once(value, () => this.list(value))) : undefined;
    if (classTag(value) !== undefined) return this.apart(value);
    return isPlain(value) && Object.keys(value).length > MANY
      ? this.place(this.once(value, () => this.map(value)))
      : undefined;
  }

  apart(value: object): Json {
    return this.place(this.once(value, () => this.alone(value)));
  }

  /** Met twice in one value, an object is written once; unless a circle was cut in it, which depends on the way. */
  private once(value: object, make: () => Handle): Handle {
    const met = this.met.get(value);
    if (met) return met;
    const { cuts } = this.writer;
    const handle = make();
    if (cuts === this.writer.cuts) this.met.set(value, handle);
    return handle;
  }

  private place(handle: Handle): Json {
    const index = this.refs.indexOf(handle);
    if (index < 0) return { $: this.refs.push(handle) - 1 };
    this.repeated += handle.weight;
    return { $: index };
  }

  private within<T>(work: () => T): { result: T; refs: Handle[]; repeated: number } {
    const { refs: outer, repeated } = this;
    const { alive } = this.writer;
    this.refs = [];
    this.repeated = 0;
    this.writer.alive = 0;
    try {
      const result = work();
      return { result, refs: this.refs, repeated: this.repeated };
    } finally {
      this.refs = outer;
      this.repeated = repeated;
      this.writer.alive = alive;
    }
  }

  /** The object `value` itself, not a reference to it. */
  private alone(value: object): Handle {
    const { result, refs, repeated } = this.within(() => this.writer.parts(value));
    return new Handle(KIND.value, refs, JSON.stringify(result), repeated);
  }

  /** A channel's value, or a write to one: its elements are likely to be met again. */
  private top(value: unknown, key: string | undefined): Json {
    if (Array.isArray(value)) return this.collection(value, value.length, () => this.list(value, key));
    if (typeof value !== "object" || value === null || !isPlain(value)) return this.writer.write(value);
    return this.collection(value, Object.keys(value).length, () => this.map(value, key));
  }

  private collection(value: object, size: number, make: () => Handle): Json {
    if (size === 0) return this.writer.parts(value);
    const handle = make();
    const content = handle.pending();
    const isSmall =
      content !== undefined &&
      size <= 2 &&
      content.refs.length === 0 &&
      content.body.length <= SMALL_COLLECTION;
    if (isSmall) return this.writer.parts(value);
    return size === 1 && content?.refs.length === 1 && handle.id === undefined
      ? this.single(value, content.refs[0] as Handle)
      : this.place(handle);
  }

  /** A write of one message or file is most often all there is. */
  private single(value: object, element: Handle): Json {
    if (Array.isArray(value)) return [this.place(element)];
    const key = Object.keys(value)[0] as string;
    return key === "$" || key === "__proto__"
      ? this.place(this.map(value as Record<string, unknown>))
      : { [key]: this.place(element) };
  }

  /** Without a key it is part of an update, which may bring back an edited object: no cached handle is used. */
  private list(list: readonly unknown[], key?: string): Handle {
    const trusted = key !== undefined && isForSavers(list);
    const before = trusted ? this.memory.list(key) : undefined;
    if (before?.list === list && before.length === list.length && before.returns === returnCount())
      return before.tree.root;
    const leaves: Handle[] = [];
    this.writer.inside(list, () => {
      for (let start = 0; start < list.length; start += LEAF_SIZE) {
        const end = Math.min(start + LEAF_SIZE, list.length);
        const known =
          before && this.sameElements(list, before, start, end) ? before.tree.levels[0] : undefined;
        leaves.push(known?.[start / LEAF_SIZE] ?? this.listLeaf(list.slice(start, end), trusted));
      }
    });
    const tree = joinLeaves(leaves, BRANCH_OF.list, before?.tree);
    if (trusted) this.memory.rememberList(key, tree, list);
    return tree.root;
  }

  private sameElements(list: readonly unknown[], before: ListMemo, start: number, end: number): boolean {
    if (Math.min(start + LEAF_SIZE, before.length) !== end) return false;
    const sure = before.returns === returnCount();
    for (let i = start; i < end; i += 1) {
      const element = list[i];
      if (element !== before.list[i]) return false;
      if (!sure && isObject(element) && !this.memory.known(element)) return false;
    }
    return true;
  }

  private listLeaf(elements: readonly unknown[], trusted: boolean): Handle {
    const { result, refs, repeated } = this.within(() =>
      Array.from(elements, (element) => this.element(element, trusted)),
    );
    return new Handle(KIND.list, refs, allRefs(result, refs) ? "" : JSON.stringify(result), repeated);
  }

  private map(map: Readonly<Record<string, unknown>>, key?: string): Handle {
    const trusted = key !== undefined && isForSavers(map);
    const before = trusted ? this.memory.map(key) : undefined;
    if (before?.map === map && before.returns === returnCount()) return before.tree.root;
    const groups = keyGroups(Object.keys(map).filter((name) => isData(map[name])));
    const places = before && new Map(before.groups.map((group, i) => [group[0] as string, i]));
    const leaves = this.writer.inside(map, () =>
      groups.map((group) => {
        const place = places?.get(group[0] as string);
        const isSame = before && place !== undefined && this.sameValues(map, before, group, place);
        return (isSame && before.tree.levels[0]?.[place]) || this.mapLeaf(map, group, trusted);
      }),
    );
    const tree = joinLeaves(leaves, BRANCH_OF.map, before?.tree);
    if (trusted) this.memory.rememberMap(key, tree, map, groups);
    return tree.root;
  }

  private sameValues(
    map: Readonly<Record<string, unknown>>,
    before: MapMemo,
    group: readonly string[],
    place: number,
  ): boolean {
    const old = before.groups[place] as readonly string[];
    if (old.length !== group.length) return false;
    const sure = before.returns === returnCount();
    for (let i = 0; i < group.length; i += 1) {
      const name = group[i] as string;
      const value = map[name];
      if (old[i] !== name || value !== before.map[name]) return false;
      if (!sure && isObject(value) && !this.memory.known(value)) return false;
    }
    return true;
  }

  private mapLeaf(
    map: Readonly<Record<string, unknown>>,
    group: readonly string[],
    trusted: boolean,
  ): Handle {
    const { result, refs, repeated } = this.within(() =>
      group.map((name) => this.element(map[name], trusted)),
    );
    const body = JSON.stringify(allRefs(result, refs) ? group : [group, result]);
    return new Handle(KIND.map, refs, body, repeated);
  }

  private element(value: unknown, trusted: boolean): Json {
    if (!isObject(value)) return this.writer.write(value);
    const known = (trusted ? this.memory.known(value) : undefined) ?? this.met.get(value);
    if (known) return this.place(known);
    const { cuts } = this.writer;
    const { holder } = this;
    this.holder = value;
    const { result, refs, repeated } = this.within(() => this.writer.parts(value));
    this.holder = holder;
    const text = JSON.stringify(result);
    if (refs.length === 0 && text.length < SMALL_ELEMENT && classTag(value) === undefined) return result;
    const handle = new Handle(KIND.value, refs, text, repeated);
    if (trusted) this.memory.remember(value, handle);
    else if (cuts === this.writer.cuts) this.met.set(value, handle);
    return this.place(handle);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isData(value: unknown): boolean {
  return typeof value !== "function" && typeof value !== "symbol";
}

function isPlain(value: object): value is Record<string, unknown> {
  return isPlainObject(value) && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

/** Whether the elements are just the references, in order. */
function allRefs(elements: readonly Json[], refs: readonly Handle[]): boolean {
  return (
    refs.length === elements.length &&
    elements.every((element, i) => isObject(element) && (element as { $?: unknown }).$ === i)
  );
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw notStorable("it is nested too deeply or too large", error);
    throw error;
  }
}

function notStorable(reason: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("VALUE_NOT_STORABLE", `A value of the state cannot be stored: ${reason}.`, {
    hint: "Keep large content in files.",
    cause,
  });
}
