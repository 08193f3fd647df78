/** Parses columns of Postgres into the values that SQLite gives: numbers (booleans as 0 and 1), bytes, else text. */
import type { SqlColumn } from "../sql/sql.ts";

/** Type numbers of Postgres (oids): int8, int2, int4, oid, float4, float8, numeric. */
const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);
const BOOLEAN = 16;
const BYTES = 17;

/** Passed with each query. Parsers set on `pg` itself would change the queries of other code in the process. */
export const columnTypes = {
  getTypeParser(type: number): (text: string) => SqlColumn {
    if (NUMBERS.has(type)) return Number;
    if (type === BYTES) return parseBytes;
    return type === BOOLEAN ? parseBoolean : parseText;
  },
};

function parseText(text: string): string {
  return text;
}

function parseBoolean(text: string): number {
  return text === "t" ? 1 : 0;
}

/** Reads both forms of `bytea_output`: `\x` with hexadecimal digits, and the older one with escapes. */
function parseBytes(text: string): Uint8Array {
  const bytes = text.startsWith("\\x")
    ? Buffer.from(text.slice(2), "hex")
    : Buffer.from(text.replace(/\\(\\|[0-7]{3})/g, unescapeByte), "latin1");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unescapeByte(_match: string, escaped: string): string {
  return escaped === "\\" ? "\\" : String.fromCharCode(Number.parseInt(escaped, 8));
}
