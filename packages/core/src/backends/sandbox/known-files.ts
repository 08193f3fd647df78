/**
 * Large files that were read or written of late: which of them an edit had better fetch at once.
 *
 * Where a file is edited depends on what it holds, and to ask first would be a call more. It is a hint alone: what
 * it says may be outdated by what others do, and an edit compares the file before it changes it.
 */
import { isUtf8 } from "node:buffer";
import { byteOrderMark, type Encoding, firstNonAscii, SAMPLE_BYTES } from "../disk/detect-encoding.ts";
import { encodingOf } from "../disk/text-codec.ts";
import { INLINE_BYTES, MAX_WHOLE_BYTES } from "./limits.ts";

/** Bytes that are looked at. */
const LOOKED_AT = 256 * 1024;
const KEPT = 256;
/** Milliseconds: a file that was small may have grown since. */
const VALID = 600_000;
const WIDE: ReadonlySet<Encoding> = new Set(["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"]);

/** `coded`: of a script's edits those in ASCII are sure to take no more calls than a download; `wide`: none is. */
type Kind = "plain" | "coded" | "wide";

interface Known {
  readonly kind: Kind;
  readonly until: number;
}

export class KnownFiles {
  readonly #files = new Map<string, Known>();

  /** `part`: all of the file, or what was seen of it. A file that a command prints needs no note. */
  note(path: string, size: number, part: Buffer): void {
    this.#files.delete(path);
    if (size <= INLINE_BYTES || size > MAX_WHOLE_BYTES) return;
    this.#files.set(path, { kind: kindOf(part), until: performance.now() + VALID });
    if (this.#files.size > KEPT) this.#files.delete(this.#files.keys().next().value as string);
  }

  /** Undefined: nothing is known, or that it is small or too large. */
  of(path: string): Kind | undefined {
    const known = this.#files.get(path);
    return known !== undefined && known.until > performance.now() ? known.kind : undefined;
  }
}

function kindOf(part: Buffer): Kind {
  const bytes = wholeCharacters(part.subarray(0, LOOKED_AT));
  if (isUtf8(bytes)) return "plain";
  if (byteOrderMark(bytes)?.length === 2) return "wide";
  const first = firstNonAscii(bytes);
  return WIDE.has(encodingOf(bytes.subarray(first, first + SAMPLE_BYTES))) ? "wide" : "coded";
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
