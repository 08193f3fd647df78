/** Turns any value of a stream into plain JSON: it never throws, and messages become readable objects. */
import { isMessage } from "../stream-part.ts";

const MAX_DEPTH = 40;

export function plainJson(value: unknown): string {
  return JSON.stringify(plain(value, [])) ?? "null";
}

/** `above` holds the objects this one lies in, to find circles. */
function plain(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (above.length >= MAX_DEPTH) return "[too deep]";
  const inside = [...above, value];
  if (isMessage(value)) return plainRecord(messageFields(value), inside);
  if (Array.isArray(value)) return value.map((item) => plain(item, inside) ?? null);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return plainRecord({ name: value.name, message: value.message }, inside);
  if (value instanceof Map) return plainRecord(Object.fromEntries(value), inside);
  if (value instanceof Set) return [...value].map((item) => plain(item, inside) ?? null);
  if (ArrayBuffer.isView(value)) return base64(value);
  return plainRecord(value, inside);
}

function plainRecord(record: object, inside: readonly object[]): Record<string, unknown> {
  const result: [string, unknown][] = [];
  for (const key of Object.keys(record)) {
    try {
      const value = plain((record as Record<string, unknown>)[key], inside);
      if (value !== undefined) result.push([key, value]);
    } catch {
      result.push([key, "[unreadable]"]);
    }
  }
  return Object.fromEntries(result);
}

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };
const MESSAGE_FIELDS = [
  "id",
  "name",
  "content",
  "tool_calls",
  "tool_call_chunks",
  "invalid_tool_calls",
  "tool_call_id",
  "status",
  "artifact",
  "usage_metadata",
  "response_metadata",
  "additional_kwargs",
] as const;

function messageFields(message: { getType(): string }): Record<string, unknown> {
  const type = message.getType();
  const fields: Record<string, unknown> = { type, role: ROLES[type] ?? type };
  for (const key of MESSAGE_FIELDS) {
    const value = (message as unknown as Record<string, unknown>)[key];
    if (value !== undefined && (key === "content" || !isEmpty(value))) fields[key] = value;
  }
  return fields;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function base64(view: ArrayBufferView): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
}
