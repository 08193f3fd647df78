/**
 * Finds the lines of one open file that contain a text.
 *
 * A file is searched as `read` shows it. Bytes are compared where the result is the same: in UTF-8, and to prove that
 * an ASCII pattern is not in the file. All other files are decoded first. Binary files have no matches; a file with a
 * zero byte in its first 8 KiB is binary.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import { BINARY_HEAD, type FoundLine, findLines } from "../../../text/find-lines.ts";
import { type TextFinder, textFinder } from "../../../text/linear-search.ts";
import { LiteralFinder } from "../encoding/literal-finder.ts";
import { decodeBytes } from "../encoding/text-codec.ts";

/** `full`: there is a match more than asked for. */
export type ScanOutcome = "done" | "full" | "too-large" | "special";

const FIRST_READ = 64 * 1024;
/** Files are read into memory; no option makes that more than this. */
const MAX_SCANNED_BYTES = 256 * 1024 * 1024;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Characters that the codec shows for invalid bytes, and how they begin in UTF-8. */
const ASTRAY = /[\u{10fe00}-\u{10feff}]/u;
const ASTRAY_IN_UTF8 = Buffer.from([0xf4, 0x8f]);

export class FileScanner {
  readonly #findText: TextFinder;
  readonly #finder: LiteralFinder;
  readonly #isAscii: boolean;
  /** Whether the pattern cannot be looked for in bytes: it has something that stands for bytes astray. */
  readonly #isPeculiar: boolean;
  readonly #limit: number;
  readonly #trustsShortReads: boolean;
  readonly maxFileSize: number;
  #buffer = Buffer.allocUnsafeSlow(FIRST_READ + 1);

  /** `limit` is the number of matches in all. Trusted, a read that comes up short is the last of its file. */
  constructor(pattern: string, limit: number, maxFileSizeBytes: number, trustsShortReads = false) {
    this.#findText = textFinder(pattern);
    const bytes = Buffer.from(pattern);
    this.#finder = new LiteralFinder(bytes);
    this.#isAscii = isAscii(bytes);
    this.#isPeculiar = !pattern.isWellFormed() || ASTRAY.test(pattern);
    this.#limit = limit;
    this.#trustsShortReads = trustsShortReads;
    this.maxFileSize = Math.min(maxFileSizeBytes, MAX_SCANNED_BYTES);
  }

  /** Adds the found lines to `matches`. Throws errors of the system. */
  scan(descriptor: number, path: string, matches: FoundLine[]): ScanOutcome {
    const bytes = this.#read(descriptor);
    if (typeof bytes === "string") return bytes;
    return this.#find(bytes, path, matches) ? "done" : "full";
  }

  #read(descriptor: number): Buffer | "too-large" | "special" {
    let length = this.#fill(descriptor, 0, FIRST_READ);
    if (length < FIRST_READ && length <= this.maxFileSize && this.#trustsShortReads)
      return this.#buffer.subarray(0, length);
    if (length === FIRST_READ) {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return "special";
      if (stats.size > this.maxFileSize) return "too-large";
      this.#grow(stats.size + 1, length);
    }
    for (let more = -1; more !== 0; length += more) {
      if (length > this.maxFileSize) return "too-large";
      if (length === this.#buffer.length) this.#grow(length * 2, length);
      more = this.#fill(descriptor, length, this.#buffer.length - length);
    }
    return this.#buffer.subarray(0, length);
  }

  #fill(descriptor: number, at: number, length: number): number {
    return readSync(descriptor, this.#buffer, at, length, null);
  }

  #grow(size: number, kept: number): void {
    if (size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(size, this.maxFileSize + 1));
    this.#buffer.copy(larger, 0, 0, kept);
    this.#buffer = larger;
  }

  /** False when there is a match more than asked for. */
  #find(bytes: Buffer, path: string, matches: FoundLine[]): boolean {
    if (!this.#isPeculiar && !hasWideMark(bytes)) {
      const first = this.#finder.indexIn(bytes, 0);
      if (first === -1 && this.#isAscii) return true;
      if (isUtf8(bytes)) {
        if (first === -1 || isBinary(bytes)) return true;
        if (isPlain(bytes)) return this.#findInBytes(bytes, first, path, matches);
      }
    }
    const decoded = decodeBytes(bytes);
    return decoded === undefined || this.#findInText(decoded.text, path, matches);
  }

  #findInBytes(bytes: Buffer, first: number, path: string, matches: FoundLine[]): boolean {
    let start = 0;
    let line = 1;
    for (let at = first; at !== -1; at = this.#finder.indexIn(bytes, start)) {
      let feed = bytes.indexOf(LINE_FEED, start);
      for (; feed !== -1 && feed < at; feed = bytes.indexOf(LINE_FEED, start)) {
        start = feed + 1;
        line += 1;
      }
      if (matches.length >= this.#limit) return false;
      matches.push({ path, line, text: bytes.toString("utf8", start, feed === -1 ? bytes.length : feed) });
      if (feed === -1 || feed + 1 === bytes.length) return true;
      start = feed + 1;
      line += 1;
    }
    return true;
  }

  #findInText(text: string, path: string, matches: FoundLine[]): boolean {
    const from = matches.length;
    const complete = findLines(matches, path, text, this.#findText, this.#limit);
    // A slice would keep the whole text in memory.
    for (let index = from; index < matches.length; index++) {
      const match = matches[index] as FoundLine;
      matches[index] = { ...match, text: Buffer.from(match.text, "utf16le").toString("utf16le") };
    }
    return complete;
  }
}

/** Whether the bytes say that they are UTF-16. */
function hasWideMark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** UTF-8 in which only line feeds end lines and every character is itself. */
function isPlain(bytes: Buffer): boolean {
  return bytes[0] !== 0xef && !bytes.includes(CARRIAGE_RETURN) && !bytes.includes(ASTRAY_IN_UTF8);
}

function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_HEAD).includes(0);
}
