/** An object's body as a column. */
import { damaged } from "../storage/damaged.ts";
import { decodeHead } from "../storage/refs.ts";
import type { StoredObject } from "../storage/storage.ts";
import { bytesIn, integerIn } from "./columns.ts";
import type { SqlColumn, SqlRow } from "./sql.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function bytesOfBody(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? encoder.encode(body) : body;
}

export function objectOf(row: SqlRow): StoredObject {
  const { kind, text, refs } = decodeHead(bytesIn(row, "head"));
  return { id: integerIn(row, "id"), kind, refs, body: bodyOf(row.body ?? null, text) };
}

/** Drivers may hand out an empty blob as null. */
function bodyOf(column: SqlColumn, text: boolean): string | Uint8Array {
  if (typeof column === "string") return column;
  const bytes = column ?? new Uint8Array(0);
  if (!(bytes instanceof Uint8Array)) throw damaged("the body of an object is a number");
  return text ? decoder.decode(bytes) : bytes;
}
