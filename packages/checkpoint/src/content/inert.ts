/**
 * Any value as JSON that stands for data only: nothing in it can name code to run or a class to build.
 *
 * JSON says itself. Everything else is an object with the one key `$`: a number is a reference to another
 * object, a list is a tag with its payload. Objects that have a key `$` of their own are written as pairs.
 */
import { DeltaSnapshot, isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { buildClass, classTag, fieldsOf } from "./messages.ts";
import { setOwn } from "./set-own.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Decides which parts of a value are kept as objects of their own. */
export interface Outlining {
  /** A value in its place, or `undefined` to have it written here. */
  outline(value: unknown): Json | undefined;
  /** An object in its place that must be kept on its own. */
  apart(value: object): Json;
}

const TYPED_ARRAYS = {
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;

/**
 * Objects that refer to one another many times over are small in memory and endless when written: a value
 * has at most so many parts, and so many that are kept in one piece.
 */
const MOST_PARTS = 2 ** 26;
const MOST_ALIVE = 2 ** 23;
/** Depth that every stack takes; the real limit varies. */
const MOST_DEPTH = 1_024;
/** JSON.stringify uses the stack too, so deeper values go into an object of their own. */
const DEPTH_OF_A_PIECE = 256;

/** Writes one value. Circles are cut as JSON people know it: "[Circular]". */
export class InertWriter {
  /** Parts of the JSON that is being made. */
  alive = 0;
  /** How many circles were cut so far. */
  cuts = 0;
  private total = 0;
  private readonly ancestors = new Set<object>();

  constructor(private readonly outlining: Outlining) {}

  write(value: unknown, mayOutline = true): Json {
    this.alive += 1;
    this.total += 1;
    if (this.alive > MOST_ALIVE || this.total > MOST_PARTS) throw new RangeError("too many parts");
    if (typeof value !== "object") return this.scalar(value);
    if (value === null) return null;
    if (this.ancestors.has(value)) return this.cut();
    const depth = this.ancestors.size;
    if (depth >= MOST_DEPTH) throw new RangeError("nested too deeply");
    if (mayOutline) {
      const elsewhere = this.outlining.outline(value);
      if (elsewhere !== undefined) return elsewhere;
      if (depth > 0 && depth % DEPTH_OF_A_PIECE === 0) return this.outlining.apart(value);
    }
    this.ancestors.add(value);
    try {
      return this.shape(value);
    } finally {
      this.ancestors.delete(value);
    }
  }

  /** The parts of `value` itself, even where `outline` would keep it elsewhere. */
  parts(value: object): Json {
    return this.write(value, false);
  }

  private scalar(value: unknown): Json {
    switch (typeof value) {
      case "string":
        return this.outlining.outline(value) ?? value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : tag("n", Object.is(value, -0) ? "-0" : String(value));
      case "boolean":
        return value;
      case "bigint":
        return tag("i", String(value));
      case "undefined":
        return tag("u");
      default:
        return null;
    }
  }

  /** While `work` writes the content of `value`, meeting `value` again is a cycle. */
  inside<T>(value: object, work: () => T): T {
    this.ancestors.add(value);
    try {
      return work();
    } finally {
      this.ancestors.delete(value);
    }
  }

  private cut(): Json {
    this.cuts += 1;
    return "[Circular]";
  }

  /** Loops and few frames: how deep a value may be nested is a matter of the stack. */
  private shape(value: object): Json {
    if (Array.isArray(value)) return this.items(value);
    if (value instanceof Map) return tag("m", this.pairs([...value]));
    if (value instanceof Set) return tag("s", this.items([...value]));
    const named = classTag(value);
    if (named !== undefined) return tag("c", named, this.entries(fieldsOf(value)));
    return this.builtIn(value) ?? (hasToJSON(value) ? this.fromToJson(value) : this.entries(value));
  }

  private items(values: readonly unknown[]): Json[] {
    const items: Json[] = [];
    for (let i = 0; i < values.length; i += 1) items.push(this.write(values[i]));
    return items;
  }

  private pairs(entries: readonly (readonly [unknown, unknown])[]): Json[] {
    const pairs: Json[] = [];
    for (let i = 0; i < entries.length; i += 1) {
      const [key, value] = entries[i] as readonly [unknown, unknown];
      pairs.push([this.write(key), this.write(value)]);
    }
    return pairs;
  }

  private builtIn(value: object): Json | undefined {
    if (value instanceof Date) return tag("d", Number.isNaN(value.getTime()) ? null : value.getTime());
    if (value instanceof RegExp) return tag("x", value.source, value.flags);
    if (value instanceof Error) return tag("e", value.name, value.message);
    if (value instanceof Uint8Array) return tag("b", base64(value));
    if (value instanceof ArrayBuffer) return tag("b", base64(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) return typedArray(value);
    // LangGraph tells a snapshot by a field, which data may have too: only an instance of a class is one.
    if (!isPlainObject(value) && isDeltaSnapshot(value)) return tag("S", this.write(value.value));
    return undefined;
  }

  private fromToJson(value: { toJSON(): unknown }): Json {
    const data = value.toJSON();
    return this.write(isSend(data) ? sendFields(data) : data);
  }

  private entries(object: object): Json {
    const value = object as Record<string, unknown>;
    const keys = Object.keys(value).filter((key) => isData(value[key]));
    if (keys.includes("$"))
      return tag(
        "o",
        keys.map((key) => [key, this.write(value[key])]),
      );
    const result: { [key: string]: Json } = {};
    for (const key of keys) setOwn(result, key, this.write(value[key]));
    return result;
  }
}

export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function hasToJSON(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

function isData(value: unknown): boolean {
  return typeof value !== "function" && typeof value !== "symbol";
}

function tag(name: string, ...payload: Json[]): Json {
  return { $: [name, ...payload] };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function typedArray(view: ArrayBufferView): Json {
  const name = Object.keys(TYPED_ARRAYS).find(
    (key) => view instanceof TYPED_ARRAYS[key as keyof typeof TYPED_ARRAYS],
  );
  return tag(name ?? "b", base64(new Uint8Array(view.buffer, view.byteOffset, view.byteLength)));
}

interface SendLike {
  readonly node: unknown;
  readonly args: unknown;
  readonly timeout?: unknown;
}

/** A packet to a node is read back by the engine as its fields. */
function isSend(data: unknown): data is SendLike {
  return typeof data === "object" && data !== null && (data as { lg_name?: unknown }).lg_name === "Send";
}

function sendFields({ node, args, timeout }: SendLike): object {
  return timeout === undefined ? { node, args } : { node, args, timeout };
}

const MARK = '"$"';

/** Parses and revives; `resolve` returns the target of a reference. Unknown tags stay as data. */
export function readInert(text: string, resolve: (ref: number) => unknown): unknown {
  const json: unknown = JSON.parse(text);
  const first = text.indexOf(MARK);
  if (first < 0) return json;
  // Most objects are one message whose fields are plain JSON: its fields need no check.
  if (text.startsWith('{"$":["c"') && text.indexOf(MARK, first + 1) < 0) {
    const [, name, fields] = (json as { $: [string, string, Record<string, unknown>] }).$;
    return buildClass(name, fields) ?? json;
  }
  return revive(json, resolve);
}

export function revive(json: unknown, resolve: (ref: number) => unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i += 1) json[i] = revive(json[i], resolve);
    return json;
  }
  const marked = Object.hasOwn(json, "$") ? (json as { $: unknown }).$ : undefined;
  if (typeof marked === "number") return resolve(marked);
  if (Array.isArray(marked)) return reviveTag(marked, json, resolve);
  for (const key of Object.keys(json))
    setOwn(json, key, revive((json as Record<string, unknown>)[key], resolve));
  return json;
}

function reviveTag(marked: unknown[], whole: unknown, resolve: (ref: number) => unknown): unknown {
  const [name, ...payload] = marked as [string, ...unknown[]];
  const [first, second] = payload;
  switch (name) {
    case "u":
      return undefined;
    case "n":
      return Number(first);
    case "i":
      return BigInt(first as string);
    case "d":
      return new Date((first ?? Number.NaN) as number);
    case "m":
      return reviveMap(list(first, resolve) as [unknown, unknown][], resolve);
    case "s":
      return new Set(revive(list(first, resolve), resolve) as unknown[]);
    case "x":
      return new RegExp(first as string, second as string);
    case "e":
      return reviveError(first as string, second as string);
    case "b":
      return new Uint8Array(Buffer.from(first as string, "base64"));
    case "S":
      return new DeltaSnapshot(revive(first, resolve));
    case "c":
      return buildClass(first as string, revive(second, resolve) as Record<string, unknown>) ?? whole;
    case "o":
      return pairs(first as [unknown, unknown][], resolve);
    default:
      return reviveTypedArray(name, first) ?? whole;
  }
}

function reviveMap(entries: [unknown, unknown][], resolve: (ref: number) => unknown): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (const [key, value] of entries) map.set(revive(key, resolve), revive(value, resolve));
  return map;
}

function list(json: unknown, resolve: (ref: number) => unknown): unknown[] {
  return (Array.isArray(json) ? json : revive(json, resolve)) as unknown[];
}

/** Keys are text; earlier versions kept long ones as objects of their own. */
function pairs(entries: [unknown, unknown][], resolve: (ref: number) => unknown): object {
  const result = {};
  for (const [key, value] of entries) setOwn(result, String(revive(key, resolve)), revive(value, resolve));
  return result;
}

function reviveError(name: string, message: string): Error {
  const error = new Error(message);
  if (name !== "Error") error.name = name;
  return error;
}

function reviveTypedArray(name: string, data: unknown): unknown {
  if (!Object.hasOwn(TYPED_ARRAYS, name) || typeof data !== "string") return undefined;
  const bytes = new Uint8Array(Buffer.from(data, "base64"));
  return new TYPED_ARRAYS[name as keyof typeof TYPED_ARRAYS](bytes.buffer as ArrayBuffer);
}
