/**
 * Cuts long content where its own bytes say so, so that an edit changes the pieces around it and no
 * others. Two versions of a file share every piece that lies outside of what was edited.
 */

/** Below this, content is one piece. */
const SMALL = 12_288;
/** From this length on pieces are larger, so that their list stays short. */
const LARGE = 1_048_576;

interface Sizes {
  readonly least: number;
  readonly most: number;
  /** A cut is where these bits of the rolling hash are 0: on average every `mask + 1` units. */
  readonly mask: number;
}

const FINE: Sizes = { least: 512, most: 8_192, mask: 0x7ff << 16 };
const COARSE: Sizes = { least: 8_192, most: 131_072, mask: 0x7fff << 16 };

/** Fixed for ever: other numbers would cut elsewhere and share nothing with what is stored. */
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

/** Ends of the pieces, the last one being the length. One number for content that stays whole. */
function cuts(units: Uint8Array): number[] {
  const { length } = units;
  if (length <= SMALL) return [length];
  const { least, most, mask } = length < LARGE ? FINE : COARSE;
  const ends: number[] = [];
  let start = 0;
  while (length - start > least) {
    const limit = Math.min(start + most, length);
    let rolling = 0;
    let end = start + least;
    for (; end < limit; end += 1) {
      rolling = ((rolling << 1) + (GEAR[units[end] as number] as number)) | 0;
      if ((rolling & mask) === 0) break;
    }
    start = Math.min(end + 1, limit);
    ends.push(start);
  }
  if (start < length) ends.push(length);
  return ends;
}

/** Pieces of well-formed text, each well-formed. */
export function textPieces(text: string): string[] {
  if (text.length <= SMALL) return text === "" ? [] : [text];
  // As latin1 every code unit is its lower byte.
  const ends = cuts(Buffer.from(text, "latin1"));
  const pieces: string[] = [];
  let start = 0;
  for (const cut of ends) {
    const end = splitsPair(text, cut) ? cut + 1 : cut;
    if (end > start) pieces.push(text.slice(start, end));
    start = Math.max(start, end);
  }
  return pieces;
}

function splitsPair(text: string, end: number): boolean {
  const before = text.charCodeAt(end - 1);
  return end < text.length && before >= 0xd800 && before <= 0xdbff;
}

export function bytePieces(bytes: Uint8Array): Uint8Array[] {
  let start = 0;
  return cuts(bytes).map((end) => {
    const piece = bytes.subarray(start, end);
    start = end;
    return piece;
  });
}
