/** Looks for the same bytes in many buffers, with what it knows about them prepared once. */
import { bordersOf, linearIndexOf, STEPS_A_CODE, skipsOf } from "../../text/linear-search.ts";

/** Shorter patterns skip too little: the search of the platform is faster. */
const SHORTEST_SKIPPING = 4;

export class LiteralFinder {
  readonly bytes: Buffer;
  /** How far the window may move when a byte is its last. */
  readonly #skips: Int32Array;
  #borders: Int32Array | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#skips = skipsOf(bytes);
  }

  /** The index of the first occurrence at or after `from`, or -1. */
  indexIn(buffer: Buffer, from: number): number {
    const { bytes } = this;
    const last = bytes.length - 1;
    if (last + 1 < SHORTEST_SKIPPING) return buffer.indexOf(bytes, from);
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

  #linearIndexIn(buffer: Buffer, from: number): number {
    this.#borders ??= bordersOf(this.bytes);
    return linearIndexOf((index) => buffer[index], buffer.length, this.bytes, this.#borders, from);
  }
}
