/** Searches many buffers for the same bytes, which are analysed once. */
import {
  bordersOf,
  LONGEST_FOR_PLATFORM,
  linearIndexOf,
  rarestIndex,
  STEPS_A_CODE,
  skipsOf,
} from "../../../text/linear-search.ts";

export class LiteralFinder {
  readonly bytes: Buffer;
  /** How far the window may move when a byte is its last. */
  readonly #skips: Int32Array;
  readonly #rarest: number;
  /** From the rarest byte to the end: the part that the platform searches for. */
  readonly #end: Buffer;
  #borders: Int32Array | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#skips = skipsOf(bytes);
    this.#rarest = rarestIndex(bytes);
    this.#end = bytes.subarray(this.#rarest);
  }

  /** The index of the first occurrence at or after `from`, or -1. */
  indexIn(buffer: Buffer, from: number): number {
    const { bytes } = this;
    if (bytes.length <= LONGEST_FOR_PLATFORM) return this.#platformIndexIn(buffer, from);
    const last = bytes.length - 1;
    const skips = this.#skips;
    const end = bytes[last] as number;
    const length = buffer.length;
    let steps = (length - from) * STEPS_A_CODE;
    let at = from + last;
    while (at < length) {
      const byte = buffer[at] as number;
      if (byte === end) {
        let matched = 0;
        const start = at - last;
        while (matched < last && buffer[start + matched] === bytes[matched]) matched += 1;
        if (matched === last) return start;
        steps -= matched;
        if (steps < 0) return this.#linearIndexIn(buffer, start);
      }
      at += skips[byte] as number;
    }
    return -1;
  }

  #platformIndexIn(buffer: Buffer, from: number): number {
    const rarest = this.#rarest;
    for (
      let at = buffer.indexOf(this.#end, from + rarest);
      at !== -1;
      at = buffer.indexOf(this.#end, at + 1)
    ) {
      const start = at - rarest;
      if (rarest === 0 || buffer.compare(this.bytes, 0, rarest, start, at) === 0) return start;
    }
    return -1;
  }

  #linearIndexIn(buffer: Buffer, from: number): number {
    this.#borders ??= bordersOf(this.bytes);
    return linearIndexOf((index) => buffer[index], buffer.length, this.bytes, this.#borders, from);
  }
}
