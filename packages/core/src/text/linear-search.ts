/**
 * Searches for a sequence in linear time for every input.
 *
 * The searches of the platform are faster, but `a…aba…a` in `aaa…` makes them compare half the pattern at every
 * position: such a text would block the event loop.
 */

/** Patterns up to this length are looked for by the platform: its worst case is bearable. */
export const LONGEST_FOR_PLATFORM = 64;

/** The index of the first occurrence at or after `from`, or -1. */
export type TextFinder = (text: string, from: number) => number;

export function textFinder(pattern: string): TextFinder {
  if (pattern.length <= LONGEST_FOR_PLATFORM) return platformFinder(pattern);
  const codes = Uint16Array.from({ length: pattern.length }, (_, index) => pattern.charCodeAt(index));
  const skips = skipsOf(codes);
  let borders: Int32Array | undefined;
  return (text, from) => {
    const last = codes.length - 1;
    let steps = (text.length - from) * STEPS_A_CODE;
    for (let at = from + last; at < text.length; at += skips[text.charCodeAt(at) & 255] as number) {
      if (text.charCodeAt(at) !== codes[last]) continue;
      const start = at - last;
      let matched = 0;
      while (matched < last && text.charCodeAt(start + matched) === codes[matched]) matched += 1;
      if (matched === last) return start;
      steps -= matched;
      if (steps >= 0) continue;
      borders ??= bordersOf(codes);
      return linearIndexOf((index) => text.charCodeAt(index), text.length, codes, borders, start);
    }
    return -1;
  };
}

/**
 * The platform looks for the first character and then compares: it stops least often where that is a rare one.
 * So the end of the pattern is looked for that begins with its rarest character.
 */
function platformFinder(pattern: string): TextFinder {
  const skip = rarestIndex(pattern);
  if (skip === 0) return (text, from) => text.indexOf(pattern, from);
  const end = pattern.slice(skip);
  return (text, from) => {
    for (let at = text.indexOf(end, from + skip); at !== -1; at = text.indexOf(end, at + 1))
      if (text.startsWith(pattern, at - skip)) return at - skip;
    return -1;
  };
}

/** A part of the pattern that few texts hold without holding the pattern, and that the platform finds fast. */
export function rarePart(pattern: string): string {
  const start = rarestIndex(pattern);
  return pattern.slice(start, start + LONGEST_FOR_PLATFORM);
}

/** From frequent to rare in prose and code; anything else is rarer. */
const FREQUENT = " etaoinsrlcdu0123456789pm\nfhgb.y,vw\"=-()_/k;':xT{}S<>ACIE";

/** The index of the character, given by its code or itself, that is rarest in most texts. */
export function rarestIndex(pattern: string | Uint8Array): number {
  let best = 0;
  let rarity = -1;
  for (let index = 0; index < pattern.length; index++) {
    const item = pattern[index] as string | number;
    const place = FREQUENT.indexOf(typeof item === "string" ? item : String.fromCharCode(item));
    const rank = place === -1 ? FREQUENT.length : place;
    if (rank > rarity) [best, rarity] = [index, rank];
  }
  return best;
}

/** Comparisons a code may cost before a search takes over that always needs about two. */
export const STEPS_A_CODE = 4;

/** How far a window with this last byte may move. */
export function skipsOf(pattern: Uint8Array | Uint16Array): Int32Array {
  const last = pattern.length - 1;
  const skips = new Int32Array(256).fill(pattern.length);
  for (let index = 0; index < last; index++) skips[(pattern[index] as number) & 255] = last - index;
  return skips;
}

/** How long the longest proper start of the pattern is that also ends at each index. */
export function bordersOf(pattern: Uint8Array | Uint16Array): Int32Array {
  const borders = new Int32Array(pattern.length);
  for (let index = 1, length = 0; index < pattern.length; index++) {
    while (length > 0 && pattern[index] !== pattern[length]) length = borders[length - 1] as number;
    if (pattern[index] === pattern[length]) length += 1;
    borders[index] = length;
  }
  return borders;
}

export function linearIndexOf(
  codeAt: (index: number) => number | undefined,
  length: number,
  pattern: Uint8Array | Uint16Array,
  borders: Int32Array,
  from: number,
): number {
  let matched = 0;
  for (let index = from; index < length; index++) {
    const code = codeAt(index);
    while (matched > 0 && code !== pattern[matched]) matched = borders[matched - 1] as number;
    if (code === pattern[matched]) matched += 1;
    if (matched === pattern.length) return index - matched + 1;
  }
  return -1;
}
