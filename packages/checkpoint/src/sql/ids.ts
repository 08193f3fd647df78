/**
 * Ids of checkpoints and tasks as they are stored: a UUID in 16 bytes, anything else as text after 0xFF.
 *
 * Order of bytes is order of text among UUIDs and among other ids; other ids sort after UUIDs.
 */
import { DeepwrightError } from "deepwright/errors";
import { damaged, readStored } from "../storage/damaged.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** With the `u` flag only halves without their other half match. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const OTHER = 0xff;
const UUID_BYTES = 16;
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const texts = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const bytesOfText = new TextEncoder();

export function packId(id: string): Uint8Array {
  if (isPackedUuid(id)) return packUuid(id);
  checkId(id, "An id");
  const text = bytesOfText.encode(id);
  const packed = new Uint8Array(text.length + 1);
  packed[0] = OTHER;
  packed.set(text, 1);
  return packed;
}

/** Throws for bytes that `packId` never makes: another text would be looked up under other bytes. */
export function unpackId(packed: Uint8Array): string {
  if (packed[0] === OTHER) return unpackOther(packed);
  if (packed.length !== UUID_BYTES) throw damaged(`an id has ${packed.length} bytes`);
  let id = "";
  for (let index = 0; index < packed.length; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) id += "-";
    id += DIGITS[packed[index] as number];
  }
  return id;
}

function unpackOther(packed: Uint8Array): string {
  const id = readStored("an id", () => texts.decode(packed.subarray(1)));
  if (isPackedUuid(id) || id.includes("\0")) throw damaged("an id is stored as no id is");
  return id;
}

function isPackedUuid(id: string): boolean {
  return UUID.test(id) && !id.startsWith("ff");
}

/** Databases cut text at NUL and replace lone surrogates, which would make two ids one. */
export function checkId(id: string, name: string): string {
  if (id.includes("\0") || LONE_SURROGATE.test(id)) {
    throw new DeepwrightError("INVALID_ID", `${name} may not contain NUL or half of a surrogate pair.`);
  }
  return id;
}

/** Text for people: characters that a database cannot store are replaced. */
export function plainText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").replace(/\p{Surrogate}/gu, "\uFFFD");
}

function packUuid(id: string): Uint8Array {
  const packed = new Uint8Array(UUID_BYTES);
  let index = 0;
  for (let position = 0; position < 36; position += 2) {
    if (id.charCodeAt(position) === 45) position++;
    packed[index++] = (digit(id.charCodeAt(position)) << 4) | digit(id.charCodeAt(position + 1));
  }
  return packed;
}

function digit(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
