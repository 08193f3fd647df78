/** A value as text that tells apart whatever a program can tell apart: two values are equal if it is. */
import { createHash } from "node:crypto";
import { Document } from "@langchain/core/documents";
import { isBaseMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

const LONG = 200;
const NOT_FIELDS = new Set(["lc_serializable", "lc_kwargs", "lc_namespace", "lc_direct_tool_output"]);

/** Objects keep the order of their keys. Circles end in "[Circular]". Data that is no JSON is `<kind …>`. */
export function describeValue(value: unknown): string {
  return JSON.stringify(plain(value, new Set()), undefined, 1) ?? "nothing";
}

function plain(value: unknown, above: Set<object>): unknown {
  if (typeof value === "string") return value.length > LONG ? digest(value) : value;
  if (typeof value === "number") return Object.is(value, -0) ? "<-0>" : special(value);
  if (typeof value === "bigint") return `<bigint ${value}>`;
  if (value === undefined) return "<undefined>";
  if (typeof value !== "object" || value === null) return value;
  if (above.has(value)) return "[Circular]";
  above.add(value);
  const result = object(value, above);
  above.delete(value);
  return result;
}

function digest(text: string): string {
  const hash = createHash("sha1").update(Buffer.from(text, "utf16le")).digest("hex");
  return `<text ${text.length} ${hash}> ${text.slice(0, 20)}`;
}

function special(value: number): unknown {
  return Number.isFinite(value) ? value : `<${value}>`;
}

function object(value: object, above: Set<object>): unknown {
  if (Array.isArray(value)) return Array.from(value, (item) => plain(item, above));
  if (isBaseMessage(value as never) || value instanceof Document)
    return {
      class: value.constructor.name,
      fields: entries(value, above).filter(([key, item]) => !NOT_FIELDS.has(key) && item !== "<undefined>"),
    };
  if (value instanceof Date) return `<date ${value.getTime()}>`;
  if (value instanceof RegExp) return `<regexp ${value}>`;
  if (value instanceof Error) return { error: [value.name, value.message] };
  if (value instanceof Map)
    return { map: Array.from(value, ([key, item]) => [plain(key, above), plain(item, above)]) };
  if (value instanceof Set) return { set: Array.from(value, (item) => plain(item, above)) };
  if (ArrayBuffer.isView(value)) return bytes(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return { object: entries(value, above), plain: prototype === Object.prototype || prototype === null };
}

function bytes(view: ArrayBufferView): string {
  const name = view instanceof Uint8Array ? "Uint8Array" : view.constructor.name;
  return `<${name} ${Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("hex")}>`;
}

/** As pairs, so that a key `__proto__` is one among others. Order counts except for messages. */
function entries(value: object, above: Set<object>): [string, unknown][] {
  const pairs = Object.keys(value).map((key): [string, unknown] => [
    key,
    plain((value as Record<string, unknown>)[key], above),
  ]);
  return isBaseMessage(value as never) ? pairs.sort(([left], [right]) => (left < right ? -1 : 1)) : pairs;
}

/** A checkpoint as a reader sees it; the order in which fields were written does not count. */
export interface TupleDescription {
  readonly config: string;
  readonly parent: string;
  readonly metadata: string;
  readonly checkpoint: string;
  readonly writes: readonly string[];
}

export function describeTuple(tuple: CheckpointTuple | undefined): TupleDescription | undefined {
  if (!tuple) return undefined;
  const { config, checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple;
  return {
    config: describeSorted(config.configurable),
    parent: describeSorted(parentConfig?.configurable),
    metadata: describeSorted(metadata),
    checkpoint: describeSorted(checkpoint),
    writes: pendingWrites.map((write) => describeValue(write)),
  };
}

export function describeSorted(value: object | undefined): string {
  const pairs = Object.entries(value ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return describeValue(Object.fromEntries(pairs));
}

/** A copy that shares nothing, made without any code of ours. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, copyOf) as T;
  if (value instanceof Map) return new Map(Array.from(value, copyOf)) as T;
  if (value instanceof Set) return new Set(Array.from(value, copyOf)) as T;
  if (value instanceof Date || value instanceof RegExp || value instanceof Error || ArrayBuffer.isView(value))
    return structuredClone(value);
  const copy = Object.create(Object.getPrototypeOf(value));
  for (const key of Object.keys(value))
    Object.defineProperty(copy, key, {
      value: copyOf((value as Record<string, unknown>)[key]),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
}
