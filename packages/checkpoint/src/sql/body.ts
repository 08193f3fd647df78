/** An object's body as a column. */
import type { StoredObject } from "../home/home.ts";
import { decodeHead } from "../home/refs.ts";
import type { SqlColumn, SqlRow } from "./sql.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function bytesOfBody(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? encoder.encode(body) : body;
}

export function objectOf(row: SqlRow): StoredObject {
  const { kind, text, refs } = decodeHead(row.head as Uint8Array);
  return { id: row.id as number, kind, refs, body: bodyOf(row.body ?? null, text) };
}

/** Drivers may hand out an empty blob as null. */
function bodyOf(column: SqlColumn, text: boolean): string | Uint8Array {
  if (typeof column === "string") return column;
  const bytes = (column as Uint8Array | null) ?? new Uint8Array(0);
  return text ? decoder.decode(bytes) : bytes;
}
