/**
 * Large files that were read or written of late: which of them an edit had better fetch at once.
 *
 * Where a file is edited depends on what it holds, and to ask first would be a call more. It is a hint alone: what
 * it says may be outdated by what others do, and an edit compares the file before it changes it.
 */
import { isUtf8 } from "node:buffer";
import { INLINE_BYTES, MAX_THERE_BYTES, MAX_WHOLE_BYTES } from "./limits.ts";

/** Bytes that are looked at. */
const SAMPLE_BYTES = 256 * 1024;
const KEPT = 256;
/** Milliseconds: a file that was small may have grown since. */
const VALID = 600_000;
/** What a script does not edit, or not always: see `put-script.ts`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const ODD = /[\x00-\x08\x0d-\x1f\u{100000}-\u{10ffff}]/u;

interface Known {
  /** A script would leave it to us. */
  readonly isOdd: boolean;
  readonly until: number;
}

export class KnownFiles {
  readonly #files = new Map<string, Known>();

  /** `part`: all of the file, or what was seen of it. A file that a command prints needs no note. */
  note(path: string, size: number, part: Buffer): void {
    this.#files.delete(path);
    if (size <= INLINE_BYTES || size > MAX_WHOLE_BYTES) return;
    this.#files.set(path, { isOdd: size > MAX_THERE_BYTES || isOdd(part), until: Date.now() + VALID });
    if (this.#files.size > KEPT) this.#files.delete(this.#files.keys().next().value as string);
  }

  /** Undefined: nothing is known, or that it is small or too large. */
  of(path: string): Known | undefined {
    const known = this.#files.get(path);
    return known !== undefined && known.until > Date.now() ? known : undefined;
  }
}

function isOdd(part: Buffer): boolean {
  const sample = wholeCharacters(part.subarray(0, SAMPLE_BYTES));
  return !isUtf8(sample) || ODD.test(sample.toString("utf8"));
}

/** Without the bytes at the end that are the beginning of a UTF-8 character. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
