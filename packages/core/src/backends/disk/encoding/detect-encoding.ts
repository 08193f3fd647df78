/**
 * The encoding of a file, and whether it is text at all.
 *
 * Both depend on the file alone, never on the page that is read: the head shows text or binary, and the bytes from the
 * first one outside ASCII show the encoding. So every read of a file, of a page or of the whole, gets the same answer.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { looksLikeText, signatureOf } from "../../../text/mime.ts";

/** Bytes at the beginning that tell text from binary: a NUL among them makes a file binary. */
export const HEAD_BYTES = 8192;
/** Bytes from the first one outside ASCII that tell the encoding. */
export const SAMPLE_BYTES = 16_384;

export type Encoding =
  | "utf-8"
  | "utf-16le"
  | "utf-16be"
  | "windows-1252"
  | "gb18030"
  | "big5"
  | "shift_jis"
  | "euc-jp"
  | "euc-kr"
  | "windows-1251"
  | "koi8-r"
  | "iso-8859-7";

export interface ByteOrderMark {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  readonly length: number;
}

/** Whether the sample is valid in the encoding; provided by the codecs. */
export type IsValid = (sample: Buffer, encoding: Encoding) => boolean;

/** UTF-16 is known by its mark alone: without one its NULs make it binary. */
export function byteOrderMark(head: Uint8Array): ByteOrderMark | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: "utf-8", length: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: "utf-16le", length: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: "utf-16be", length: 2 };
  return undefined;
}

/** `head` holds the first `HEAD_BYTES` of the file, or all of it. */
export function isBinaryHead(head: Buffer): boolean {
  const mark = byteOrderMark(head);
  if (mark?.length === 2) return hasManyControls(codeUnits(head, mark.encoding === "utf-16be"));
  if (head.includes(0)) return true;
  if (isAscii(head) || looksLikeText(head)) return false;
  return signatureOf(head) !== undefined || hasManyControls(head);
}

/** -1 when all are ASCII. */
export function firstNonAscii(bytes: Buffer): number {
  const STEP = 4096;
  for (let start = 0; start < bytes.length; start += STEP) {
    const part = bytes.subarray(start, start + STEP);
    if (isAscii(part)) continue;
    return start + part.findIndex((byte) => byte >= 0x80);
  }
  return -1;
}

/** `sample` begins with the first byte of the file outside ASCII and may end inside a character. */
export function encodingOfSample(sample: Buffer, isValid: IsValid): Encoding {
  const whole = wholeCharacters(sample);
  if (isUtf8(whole) || isMostlyUtf8(whole)) return "utf-8";
  return guessed(whole, isValid) ?? shortEastAsian(whole, isValid) ?? "windows-1252";
}

interface Guess {
  readonly name: string;
  readonly confidence: number;
}

const EAST_ASIAN: Readonly<Record<string, Encoding>> = {
  GB18030: "gb18030",
  Big5: "big5",
  Shift_JIS: "shift_jis",
  "EUC-JP": "euc-jp",
  "EUC-KR": "euc-kr",
};
/** Alphabets with nearly all their letters outside ASCII. */
const OTHER_ALPHABETS: Readonly<Record<string, Encoding>> = {
  "windows-1251": "windows-1251",
  "KOI8-R": "koi8-r",
  "ISO-8859-7": "iso-8859-7",
};

const load = createRequire(import.meta.url);

function guessed(sample: Buffer, isValid: IsValid): Encoding | undefined {
  const { analyse } = load("chardet") as { analyse(bytes: Uint8Array): Guess[] };
  for (const { name, confidence } of analyse(sample)) {
    const eastAsian = confidence >= 50 ? EAST_ASIAN[name] : undefined;
    if (eastAsian !== undefined && isValid(sample, eastAsian)) return eastAsian;
    const other = confidence >= 30 && isMostlyHigh(sample) ? OTHER_ALPHABETS[name] : undefined;
    if (other !== undefined && isValid(sample, other)) return other;
  }
  return undefined;
}

/**
 * A few words are too little for statistics. Western text has its accents one by one; long even runs of
 * high bytes are East Asian, and the kind of script tells which.
 */
function shortEastAsian(sample: Buffer, isValid: IsValid): Encoding | undefined {
  const runs = highRuns(sample);
  if (isMostly(sample, isShiftJisKana) && isValid(sample, "shift_jis")) return "shift_jis";
  if (runs.length === 0 || runs.some((run) => run % 2 === 1) || Math.max(...runs) < 4) return undefined;
  if (isMostly(sample, (lead) => lead === 0xa4 || lead === 0xa5) && isValid(sample, "euc-jp"))
    return "euc-jp";
  if (isMostly(sample, (lead) => lead >= 0xb0 && lead <= 0xc8, 1) && isValid(sample, "euc-kr"))
    return "euc-kr";
  return isValid(sample, "gb18030") ? "gb18030" : undefined;
}

function isShiftJisKana(lead: number, trail: number): boolean {
  return (
    (lead === 0x82 && trail >= 0x9f && trail <= 0xf1) || (lead === 0x83 && trail >= 0x40 && trail <= 0x96)
  );
}

/** Whether `test` holds for at least `share` of the pairs that begin with a high byte. */
function isMostly(sample: Buffer, test: (lead: number, trail: number) => boolean, share = 0.5): boolean {
  let pairs = 0;
  let hits = 0;
  for (let at = 0; at < sample.length - 1; at++) {
    const lead = sample[at] as number;
    if (lead < 0x80) continue;
    pairs += 1;
    if (test(lead, sample[at + 1] as number)) hits += 1;
    at += 1;
  }
  return pairs > 1 && hits >= pairs * share;
}

function highRuns(sample: Buffer): number[] {
  const runs: number[] = [];
  for (let at = 0; at < sample.length; at++) {
    const start = at;
    while (at < sample.length && (sample[at] as number) >= 0x80) at += 1;
    if (at > start) runs.push(at - start);
  }
  return runs;
}

/** Words of letters outside ASCII, unlike characters of two bytes each. */
function isMostlyHigh(sample: Buffer): boolean {
  let high = 0;
  let letters = 0;
  for (const byte of sample) {
    if (byte >= 0x80) high += 1;
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) letters += 1;
  }
  return high >= 6 && high * 2 > letters && highRuns(sample).some((run) => run % 2 === 1);
}

/** UTF-8 in which some bytes are astray, as opposed to another encoding. */
function isMostlyUtf8(sample: Buffer): boolean {
  let whole = 0;
  let astray = 0;
  for (let at = 0; at < sample.length; at++) {
    const lead = sample[at] as number;
    if (lead < 0x80) continue;
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (isUtf8(sample.subarray(at, at + length)) && at + length <= sample.length) {
      whole += 1;
      at += length - 1;
    } else astray += 1;
  }
  return whole >= 2 && whole >= astray * 2;
}

/** Without the part behind the last ASCII byte, where a full sample may end inside a character. */
function wholeCharacters(sample: Buffer): Buffer {
  if (sample.length < SAMPLE_BYTES) return sample;
  const end = sample.findLastIndex((byte) => byte < 0x30);
  if (end >= SAMPLE_BYTES / 2) return sample.subarray(0, end + 1);
  for (let cut = 0; cut < 4; cut++) {
    const whole = sample.subarray(0, sample.length - cut);
    if (isUtf8(whole)) return whole;
  }
  return sample;
}

const TEXT_CONTROLS = new Set([8, 9, 10, 11, 12, 13, 27]);

function hasManyControls(units: Uint8Array | Uint16Array): boolean {
  let controls = 0;
  for (const unit of units) if (unit < 32 ? !TEXT_CONTROLS.has(unit) : unit === 127) controls += 1;
  return controls * 30 > units.length;
}

function codeUnits(head: Buffer, bigEndian: boolean): Uint16Array {
  return Uint16Array.from({ length: Math.floor(head.length / 2) }, (_, index) =>
    bigEndian ? head.readUInt16BE(index * 2) : head.readUInt16LE(index * 2),
  );
}
