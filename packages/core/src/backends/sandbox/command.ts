/**
 * The command that runs a constant script in the sandbox, and the answer found in what it printed.
 *
 * A value reaches a script as an argument spelled with letters, digits, `_`, `.`, `/`, `-` and `\0ooo` only,
 * which no shell reads as anything but itself between single quotes; the script turns it back with
 * `printf %b`. The answer comes between two lines that carry a number made for this one call, in base64 or
 * hexadecimal: banners, warnings, `\r\n` and bytes that are no UTF-8 cannot be taken for it or spoil it, and
 * an answer that a provider cut short lacks its last line. Long answers are packed where the sandbox has `gzip`.
 */
import { gunzipSync } from "node:zlib";

/** What the script printed, or the directory of the sandbox it left it in because it was long. */
export type Answer = (
  | { readonly kind: "data"; readonly bytes: Buffer }
  | { readonly kind: "file"; readonly directory: string }
  /** `begun`: the start was there, the end was not. */
  | { readonly kind: "none"; readonly begun: boolean }
) & {
  /** Whether the sandbox has `base64`. */
  readonly hasBase64?: boolean;
  /** Those of the tools the scripts ask for that are there, when they were asked to say so. */
  readonly tools?: readonly string[];
  /** The private directory for uploads that the script has made. */
  readonly stage?: string;
};

/** Text is passed on as UTF-8. */
export type Value = string | number | Uint8Array;

const MARK = "dw";
/** More than a packed answer may become: the sandbox is not trusted. */
const MAX_UNPACKED = 8 * 1024 * 1024;
const HARMLESS = /^[\w./-]$/;
const SPELLINGS = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return HARMLESS.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
});

/** `script` is code of ours; `values` may be anything without a NUL. */
export function commandOf(script: string, call: string, values: readonly (Value | Spelled)[]): string {
  const words = [
    call,
    ...values.map((value) => (value instanceof Spelled ? value.word : encodeValue(value))),
  ];
  return `LC_ALL=C sh -c ${quoteScript(script)} ${MARK} ${words.map((word) => `'${word}'`).join(" ")} </dev/null`;
}

/** A value that the script reads as it stands: letters, digits and `+/=._-\\` only. */
export class Spelled {
  readonly word: string;

  constructor(word: string) {
    if (!/^[\w./+=\\-]*$/.test(word)) throw new TypeError("Not a harmless word");
    this.word = word;
  }
}

/** Every byte that is not plainly harmless as `\0` and three octal digits. */
export function encodeValue(value: Value): string {
  let encoded = "";
  for (const byte of typeof value === "object" ? value : Buffer.from(String(value), "utf8"))
    encoded += SPELLINGS[byte];
  return encoded;
}

export function answerIn(output: string, call: string): Answer {
  const start = new RegExp(`${MARK}:${call}:(64|16):(data|pack|file)\\r?\\n`).exec(output);
  if (start === null) return { kind: "none", begun: false };
  const from = start.index + start[0].length;
  const end = output.indexOf(`${MARK}:${call}:end`, from);
  const digits = end === -1 ? undefined : output.slice(from, end).replace(/\s+/g, "");
  const bytes = digits === undefined ? undefined : decodeDigits(digits, start[1] as string);
  const body = start[2] === "pack" && bytes !== undefined ? unpack(bytes) : bytes;
  if (body === undefined) return { kind: "none", begun: true };
  const made = new RegExp(`${MARK}:${call}:made:([\\w./-]+)\\r?\\n`).exec(output)?.[1];
  const tools = new RegExp(`${MARK}:${call}:tools:([\\w.]*)\\r?\\n`).exec(output)?.[1];
  const learned = {
    hasBase64: start[1] === "64",
    ...(tools === undefined ? {} : { tools: tools.split(".").filter(Boolean) }),
    ...(made === undefined ? {} : { stage: `${placeOf(made)}/.deepwright-files-${call}` }),
  };
  return start[2] === "file"
    ? { kind: "file", directory: body.toString("utf8"), ...learned }
    : { kind: "data", bytes: body, ...learned };
}

/** An absolute path as it is, or in hexadecimal where it has characters of its own. */
function placeOf(made: string): string {
  return made.startsWith("/") ? made : Buffer.from(made, "hex").toString("utf8");
}

/** Undefined where the bytes are none that `gzip` made. */
function unpack(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED });
  } catch {
    return undefined;
  }
}

/** Undefined where something was left out of the middle. */
function decodeDigits(digits: string, base: string): Buffer | undefined {
  if (base === "16") return /^(?:[0-9a-f]{2})*$/.test(digits) ? Buffer.from(digits, "hex") : undefined;
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return undefined;
  return Buffer.from(digits, "base64");
}

function quoteScript(script: string): string {
  return `'${script.replaceAll("'", "'\\''")}'`;
}
