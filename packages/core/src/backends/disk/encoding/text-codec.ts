/**
 * Text in the encodings of files, both ways without loss.
 *
 * Text and bytes always correspond one to one: a byte that is not part of a valid character (a stray one in a UTF-8
 * file, say) is shown as one private-use character and written back as the same byte. The libraries are loaded only for
 * encodings that the runtime does not have.
 */
import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import type { FileError } from "../../backend.ts";
import {
  byteOrderMark,
  type Encoding,
  encodingOfSample,
  firstNonAscii,
  HEAD_BYTES,
  isBinaryHead,
  SAMPLE_BYTES,
} from "./detect-encoding.ts";

export interface TextFormat {
  readonly encoding: Encoding;
  /** Whether a byte order mark stands before the text. */
  readonly bom: boolean;
}

export interface DecodedText extends TextFormat {
  /** Without the byte order mark. */
  readonly text: string;
}

export type EncodedText = { readonly bytes: Buffer; readonly error?: undefined } | FileError;

/** Undefined when the bytes are not text. */
export function decodeBytes(bytes: Buffer): DecodedText | undefined {
  const format = formatOf(bytes);
  if (format === undefined) return undefined;
  const body = bytes.subarray(markLength(format));
  return { ...format, text: decodePart(body, format.encoding) };
}

/** How the text of a file is written, from the whole of it; undefined when it is not text. */
export function formatOf(bytes: Buffer): TextFormat | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (isBinaryHead(head)) return undefined;
  const mark = byteOrderMark(head);
  if (mark !== undefined) return { encoding: mark.encoding, bom: true };
  if (isUtf8(bytes)) return { encoding: "utf-8", bom: false };
  const first = firstNonAscii(bytes);
  return { encoding: encodingOf(bytes.subarray(first, first + SAMPLE_BYTES)), bom: false };
}

/** `sample` begins with the first byte outside ASCII. */
export function encodingOf(sample: Buffer): Encoding {
  return encodingOfSample(sample, isPlausible);
}

/** Bytes of the mark before the text. */
export function markLength({ encoding, bom }: TextFormat): number {
  return !bom ? 0 : encoding === "utf-8" ? 3 : 2;
}

/** An error names the first character that the encoding does not have. */
export function encodeText(text: string, encoding: Encoding, bom: boolean): EncodedText {
  const missing = missingCharacter(text, encoding);
  if (missing !== undefined) return missing;
  const bytes = encodePart(text, encoding);
  return { bytes: bom ? Buffer.concat([encodePart("\ufeff", encoding), bytes]) : bytes };
}

/** Part of a file between two character borders: whole lines, or all of it behind the byte order mark. */
export function decodePart(bytes: Buffer, encoding: Encoding): string {
  return decodePieces(bytes, codecOf(encoding), LARGEST_PIECE);
}

const LARGEST_PIECE = 65_536;
const SMALLEST_PIECE = 16;

/** Valid pieces are decoded as a whole; pieces with stray bytes are split further. */
function decodePieces(bytes: Buffer, codec: Codec, size: number): string {
  const text = codec.decode(bytes);
  if (text !== undefined) return text;
  if (size < SMALLEST_PIECE) return decodeUnits(bytes, codec);
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = borderFrom(bytes, start + size, codec);
    parts.push(decodePieces(bytes.subarray(start, end), codec, size / 16));
    start = end;
  }
  return parts.join("");
}

/** A place at `from` or soon after it where no character is cut in two; the end where there is none. */
export function characterBorder(bytes: Buffer, from: number, encoding: Encoding): number {
  return borderFrom(bytes, from, codecOf(encoding));
}

function borderFrom(bytes: Buffer, from: number, codec: Codec): number {
  let at = from;
  while (at < bytes.length && !codec.isBorder(bytes, at)) at += 1;
  return Math.min(at, bytes.length);
}

/** `bytes` without the last character, should it not be whole. */
export function wholeCharacters(bytes: Buffer, encoding: Encoding): Buffer {
  const codec = codecOf(encoding);
  let border = bytes.length - 1;
  while (border > 0 && !codec.isBorder(bytes, border)) border -= 1;
  for (let cut = 0; cut < 4; cut++) {
    const last = bytes.subarray(border, bytes.length - cut);
    if (codec.decode(last) !== undefined) return bytes.subarray(0, border + last.length);
  }
  return bytes.subarray(0, border);
}

/** The reverse of `decodePart`; the text must have no character that the encoding does not have. */
export function encodePart(text: string, encoding: Encoding): Buffer {
  const codec = codecOf(encoding);
  if (!ASTRAY.test(text)) return codec.encode(text);
  const parts = text
    .split(RUN_ASTRAY)
    .map((part) =>
      ASTRAY.test(part)
        ? Buffer.from(Array.from(part, (character) => (character.codePointAt(0) as number) - FIRST_ASTRAY))
        : codec.encode(part),
    );
  return Buffer.concat(parts);
}

/** Undefined when every character can be written. */
export function missingCharacter(text: string, encoding: Encoding): FileError | undefined {
  const codec = codecOf(encoding);
  const isWritable = (part: string): boolean =>
    part.isWellFormed() && codec.decode(codec.encode(part)) === part;
  if (text.split(RUN_ASTRAY).every((part) => ASTRAY.test(part) || isWritable(part))) return undefined;
  const missing =
    Array.from(text).find((character) => !ASTRAY.test(character) && !isWritable(character)) ?? "";
  const code = (missing.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const shown = missing.isWellFormed() ? `'${missing}' (U+${code})` : `U+${code}`;
  return {
    error: `The file is written in ${encoding}, which has no character ${shown}: nothing was changed`,
    code: "INVALID_ARGUMENT",
  };
}

/** A byte astray is this and its value: U+10FE00 to U+10FEFF, where no script and no icon font lives. */
const FIRST_ASTRAY = 0x10fe00;
const ASTRAY = /[\u{10fe00}-\u{10feff}]/u;
const RUN_ASTRAY = /([\u{10fe00}-\u{10feff}]+)/u;
/** How these characters begin in UTF-8, and a few others with them. */
const ASTRAY_IN_UTF8 = Buffer.from([0xf4, 0x8f]);

interface Codec {
  /** Bytes that a character takes at least. */
  readonly step: 1 | 2;
  /** Undefined when `encode` would not give these bytes for the text. */
  decode(bytes: Buffer): string | undefined;
  encode(text: string): Buffer;
  /** Whether no character lies on both sides of `at`, which is neither end of the bytes. */
  isBorder(bytes: Buffer, at: number): boolean;
}

function decodeUnits(bytes: Buffer, codec: Codec): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    let length: number = codec.step;
    let character = codec.decode(bytes.subarray(at, at + length));
    while (character === undefined && length < 4 && at + length < bytes.length) {
      length += codec.step;
      character = codec.decode(bytes.subarray(at, at + length));
    }
    if (character !== undefined) {
      text += character;
      at += length;
      continue;
    }
    for (const end = Math.min(at + codec.step, bytes.length); at < end; at++)
      text += String.fromCodePoint(FIRST_ASTRAY + (bytes[at] as number));
  }
  return text;
}

const UTF_8: Codec = {
  step: 1,
  decode: (bytes) => {
    if (!isUtf8(bytes)) return undefined;
    const text = bytes.toString("utf8");
    return bytes.includes(ASTRAY_IN_UTF8) && ASTRAY.test(text) ? undefined : text;
  },
  encode: (text) => Buffer.from(text, "utf8"),
  isBorder: (bytes, at) => ((bytes[at] as number) & 0xc0) !== 0x80,
};

function utf16(isBigEndian: boolean): Codec {
  const swapped = (bytes: Buffer): Buffer => (isBigEndian ? Buffer.from(bytes).swap16() : bytes);
  return {
    step: 2,
    decode: (bytes) => {
      if (bytes.length % 2 === 1) return undefined;
      const text = swapped(bytes).toString("utf16le");
      return text.isWellFormed() && !ASTRAY.test(text) ? text : undefined;
    },
    encode: (text) => swapped(Buffer.from(text, "utf16le")),
    isBorder: (bytes, at) =>
      at % 2 === 0 && ((bytes[isBigEndian ? at - 2 : at - 1] as number) & 0xfc) !== 0xd8,
  };
}

/** Characters 0x80 to 0x9F; the five unassigned bytes keep their number, as in browsers. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const FROM_WINDOWS = new Map(
  Array.from(WINDOWS_1252, (character, index) => [character, String.fromCharCode(0x80 + index)]),
);

/** Every byte is a character, so that any bytes can be shown and written back. */
const WESTERN: Codec = {
  step: 1,
  decode: (bytes) =>
    bytes
      .toString("latin1")
      .replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] as string),
  encode: (text) =>
    Buffer.from(
      // A character that is not there must not become another one by losing its upper half.
      text.replace(/[^\0-\x7f\xa0-\xff]/g, (character) => FROM_WINDOWS.get(character) ?? "\x1a"),
      "latin1",
    ),
  isBorder: () => true,
};

interface Library {
  decode(bytes: Buffer, encoding: string, options: { stripBOM: boolean }): string;
  encode(text: string, encoding: string): Buffer;
}

const load = createRequire(import.meta.url);
/** In all older encodings a byte below this one is never part of a longer character. */
const FIRST_TRAIL = 0x30;

function legacy(encoding: Encoding): Codec {
  const library = load("iconv-lite") as Library;
  return {
    step: 1,
    decode: (bytes) => {
      const text = library.decode(bytes, encoding, { stripBOM: false });
      return !ASTRAY.test(text) && library.encode(text, encoding).equals(bytes) ? text : undefined;
    },
    encode: (text) => library.encode(text, encoding),
    isBorder: (bytes, at) => (bytes[at - 1] as number) < FIRST_TRAIL,
  };
}

const codecs = new Map<Encoding, Codec>([
  ["utf-8", UTF_8],
  ["utf-16le", utf16(false)],
  ["utf-16be", utf16(true)],
  ["windows-1252", WESTERN],
]);

function codecOf(encoding: Encoding): Codec {
  const known = codecs.get(encoding);
  if (known !== undefined) return known;
  const codec = legacy(encoding);
  codecs.set(encoding, codec);
  return codec;
}

/** A few bytes astray do not speak against an encoding. */
function isPlausible(sample: Buffer, encoding: Encoding): boolean {
  const astray = decodePart(sample, encoding).match(/[\u{10fe00}-\u{10feff}]/gu)?.length ?? 0;
  return astray * 100 <= sample.length;
}
