/**
 * Cuts long content at positions that its own bytes define, so that an edit changes only the pieces around it. Two
 * versions of a file share every piece outside of the edit.
 */

/** Below this, content is one piece. */
const SMALL = 12_288;
/** From these lengths on pieces are larger, so that their list stays short. */
const MEDIUM = 262_144;
const LARGE = 1_048_576;

interface Sizes {
  readonly least: number;
  readonly most: number;
  /** A cut is where these bits of the rolling hash are 0: on average every `mask + 1` units. */
  readonly mask: number;
}

const FINE: Sizes = { least: 512, most: 8_192, mask: 0x7ff << 16 };
const MIDDLE: Sizes = { least: 4_096, most: 32_768, mask: 0x1fff << 16 };
const COARSE: Sizes = { least: 8_192, most: 131_072, mask: 0x7fff << 16 };

/** Fixed for ever: other numbers would cut elsewhere, and nothing would be shared with stored content. */
const GEAR = gearTable();

function gearTable(): Int32Array {
  const table = new Int32Array(256);
  let state = 0x9e3779b9;
  for (let i = 0; i < 256; i += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) + i;
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    table[i] = state ^ (state >>> 16);
  }
  return table;
}

/** Where the piece that begins at `start` ends. */
function pieceEnd(units: Uint8Array, start: number, length: number, { least, most, mask }: Sizes): number {
  if (length - start <= least) return length;
  const limit = Math.min(start + most, length);
  let rolling = 0;
  for (let end = start + least; end < limit; end += 1) {
    rolling = ((rolling << 1) + (GEAR[units[end] as number] as number)) | 0;
    if ((rolling & mask) === 0) return end + 1;
  }
  return limit;
}

function sizesFor(length: number): Sizes {
  if (length < MEDIUM) return FINE;
  return length < LARGE ? MIDDLE : COARSE;
}

/** `units[place]` to `units[place + end - start - 1]` are the lower bytes of the code units from `start` to `end`. */
export type TakeCut = (start: number, end: number, units: Buffer, place: number) => void;

/** Bytes before the units of a piece that `take` may overwrite. */
export const ROOM_BEFORE = 8;
const WINDOW = 2 * COARSE.most;
let window: Buffer | undefined;

/** Cuts a text, be it in the middle of a character. The units are good until `take` returns. */
export function cutText(text: string, take: TakeCut): void {
  const { length } = text;
  if (length <= SMALL) throw new RangeError("A short text is not cut.");
  const sizes = sizesFor(length);
  window ??= Buffer.allocUnsafeSlow(ROOM_BEFORE + WINDOW);
  const units = window;
  let seen = 0;
  let shift = ROOM_BEFORE;
  for (let start = 0; start < length; ) {
    if (seen < Math.min(start + sizes.most, length)) {
      seen = Math.min(start + WINDOW, length);
      shift = ROOM_BEFORE - start;
      // As latin1 every code unit is its lower byte.
      units.write(text.slice(start, seen), ROOM_BEFORE, "latin1");
    }
    const end = pieceEnd(units, start + shift, length + shift, sizes) - shift;
    take(start, end, units, start + shift);
    start = end;
  }
}

export function isCut(text: string): boolean {
  return text.length > SMALL;
}

/** Pieces of well-formed text, each well-formed. */
export function textPieces(text: string): string[] {
  if (!isCut(text)) return text === "" ? [] : [text];
  const pieces: string[] = [];
  let start = 0;
  cutText(text, (_, cut) => {
    const end = splitsPair(text, cut) ? cut + 1 : cut;
    if (end > start) pieces.push(text.slice(start, end));
    start = Math.max(start, end);
  });
  return pieces;
}

function splitsPair(text: string, end: number): boolean {
  const before = text.charCodeAt(end - 1);
  return end < text.length && before >= 0xd800 && before <= 0xdbff;
}

export function bytePieces(bytes: Uint8Array): Uint8Array[] {
  const { length } = bytes;
  if (length <= SMALL) return [bytes];
  const sizes = sizesFor(length);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < length; ) {
    const end = pieceEnd(bytes, start, length, sizes);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}
