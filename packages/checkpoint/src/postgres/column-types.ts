/** Columns as SQLite gives them: numbers (truth too), bytes, and text for everything else. */
import type { SqlColumn } from "../sql/sql.ts";

const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);
const BOOLEAN = 16;
const BYTES = 17;

/** Given with each query, because parsers set on `pg` itself would change other people's queries. */
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

/** `\x` and hexadecimal digits, or the older form with escapes where `bytea_output` is set to it. */
function parseBytes(text: string): Uint8Array {
  const bytes = text.startsWith("\\x")
    ? Buffer.from(text.slice(2), "hex")
    : Buffer.from(text.replace(/\\(\\|[0-7]{3})/g, unescapeByte), "latin1");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unescapeByte(_match: string, escaped: string): string {
  return escaped === "\\" ? "\\" : String.fromCharCode(Number.parseInt(escaped, 8));
}
