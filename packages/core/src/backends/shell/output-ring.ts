/** Output of any length in bounded memory: its beginning and its end are kept, the middle is counted. */

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export interface CollectedOutput {
  readonly output: string;
  /** Whether the middle was left out. */
  readonly truncated: boolean;
}

/**
 * Keeps at most `maxBytes` bytes, half of them from the beginning. Text is decoded once, at the end, so
 * that a character that came in several pieces is whole; where the cut goes through a character, that
 * character is left out; bytes that are not UTF-8 become U+FFFD. The line that marks the cut is not counted.
 */
export class OutputRing {
  readonly #head: Uint8Array;
  readonly #tail: Uint8Array;
  #total = 0;
  /** Where the next byte of the tail goes. */
  #next = 0;

  constructor(maxBytes: number) {
    const tailSize = Math.floor(maxBytes / 2);
    this.#head = Buffer.allocUnsafeSlow(maxBytes - tailSize);
    this.#tail = Buffer.allocUnsafeSlow(tailSize);
  }

  /** Copies `chunk`: the caller may use its memory again. */
  add(chunk: Uint8Array): void {
    const room = Math.max(0, this.#head.length - this.#total);
    if (room > 0) this.#head.set(chunk.subarray(0, room), this.#total);
    this.#total += chunk.length;
    this.#addToTail(chunk.subarray(room));
  }

  #addToTail(bytes: Uint8Array): void {
    const size = this.#tail.length;
    if (size === 0 || bytes.length === 0) return;
    const kept = bytes.subarray(Math.max(0, bytes.length - size));
    const untilEnd = Math.min(kept.length, size - this.#next);
    this.#tail.set(kept.subarray(0, untilEnd), this.#next);
    this.#tail.set(kept.subarray(untilEnd), 0);
    this.#next = (this.#next + kept.length) % size;
  }

  /** Bytes that came, kept or not. */
  get total(): number {
    return this.#total;
  }

  collected(): CollectedOutput {
    const head = this.#head.subarray(0, this.#total);
    const inTail = this.#total - head.length;
    if (inTail <= this.#tail.length)
      return {
        output: decoder.decode(Buffer.concat([head, this.#tail.subarray(0, inTail)])),
        truncated: false,
      };
    const tail = Buffer.concat([this.#tail.subarray(this.#next), this.#tail.subarray(0, this.#next)]);
    const first = head.subarray(0, wholeEnd(head));
    const last = tail.subarray(wholeStart(tail));
    const omitted = this.#total - first.length - last.length;
    const marker = `\n[… ${omitted} bytes left out …]\n`;
    return { output: decoder.decode(first) + marker + decoder.decode(last), truncated: true };
  }
}

const LONGEST_CHARACTER = 4;

/** The length of `bytes` without a character that is cut off at its end. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST_CHARACTER && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first character of `bytes` begins that is not cut off at its start. */
function wholeStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && start < bytes.length && isContinuation(bytes[start] as number))
    start += 1;
  return start;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthOf(firstByte: number): number {
  return firstByte >= 0xf0 ? 4 : firstByte >= 0xe0 ? 3 : firstByte >= 0xc0 ? 2 : 1;
}
