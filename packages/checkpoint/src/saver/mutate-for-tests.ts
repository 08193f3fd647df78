/** Edits values in place, anywhere, as careless programs do. */
import { Document } from "@langchain/core/documents";
import { isBaseMessage } from "@langchain/core/messages";

/** One edit: which of the mutable parts, and what to do with it. */
export interface Mutation {
  readonly part: number;
  readonly way: number;
  readonly place: number;
  readonly value: unknown;
}

/** Applies the edits to parts of `root`; the value itself stays the same object. */
export function mutate(root: unknown, mutations: readonly Mutation[]): void {
  for (const mutation of mutations) {
    const parts: object[] = [];
    collect(root, parts, new Set());
    const part = parts[mutation.part % (parts.length || 1)];
    if (part) change(part, mutation);
  }
}

function collect(value: unknown, parts: object[], seen: Set<object>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (!(value instanceof RegExp || value instanceof Error || value instanceof Document)) parts.push(value);
  if (ArrayBuffer.isView(value) || value instanceof Date) return;
  if (value instanceof Map)
    for (const [key, item] of value) for (const part of [key, item]) collect(part, parts, seen);
  else if (value instanceof Set) for (const item of value) collect(item, parts, seen);
  else
    for (const key of Object.keys(value))
      if (key !== "lc_kwargs") collect((value as Record<string, unknown>)[key], parts, seen);
}

function change(part: object, { way, place, value }: Mutation): void {
  if (Array.isArray(part)) changeList(part, way, place, value);
  else if (part instanceof Map) part.set(value, place);
  else if (part instanceof Set) part.add(value);
  else if (part instanceof Date) part.setTime(place);
  else if (part instanceof Uint8Array) part.fill(place, way);
  else if (ArrayBuffer.isView(part)) new Uint8Array(part.buffer).fill(place);
  else if (isBaseMessage(part as never)) changeMessage(part as never, way, place, value);
  else if (way % 3 === 0)
    delete (part as Record<string, unknown>)[
      Object.keys(part)[place % (Object.keys(part).length || 1)] as string
    ];
  else
    set(
      part,
      way % 3 === 1 ? (Object.keys(part)[place % (Object.keys(part).length || 1)] ?? "new") : `key-${place}`,
      value,
    );
}

function changeList(list: unknown[], way: number, place: number, value: unknown): void {
  if (way % 4 === 0) list.push(value);
  else if (way % 4 === 1) list.splice(place % (list.length + 1), 1);
  else if (way % 4 === 2) list.splice(place % (list.length + 1), 0, value);
  else list.reverse();
}

function changeMessage(message: Record<string, any>, way: number, place: number, value: unknown): void {
  if (way % 3 === 0)
    message.content = typeof message.content === "string" ? `${message.content}!${place}` : "edited";
  else if (way % 3 === 1) message.additional_kwargs.edited = value;
  else message.response_metadata = { place };
}

function set(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
