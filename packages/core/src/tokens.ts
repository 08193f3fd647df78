/**
 * How many tokens a text has for a model, without its tokenizer: close to the o200k vocabulary.
 *
 * The text is walked in the pieces that such tokenizers part it into before they look anything up (a word with
 * the space before it, three digits, a run of punctuation), and each piece costs what pieces of its kind and
 * length cost on average. Other vocabularies differ from this one by kind of text, so the counts are kept apart
 * by kind.
 */

/** The kinds of text whose cost differs from one vocabulary to another. */
export const TEXT_KINDS = [
  "word",
  "mark",
  "opaque",
  "symbol",
  "accented",
  "han",
  "kana",
  "hangul",
  "cyrillic",
  "arabic",
  "thai",
  "other",
] as const;

/** Tokens by kind of text, in the order of `TEXT_KINDS`. */
export type TextTally = Float64Array;

const WORDS = 0;
const MARKS = 1;
const OPAQUES = 2;
const SYMBOLS = 3;
const ACCENTEDS = 4;
const HANS = 5;
const KANAS = 6;
const HANGULS = 7;
const CYRILLICS = 8;
const ARABICS = 9;
const THAIS = 10;
const OTHERS = 11;
/** Behind the kinds, while a text is walked: how many letters have accents. */
const ACCENTS = 12;

/** A longer text is measured at evenly spread places only: the time is then constant. */
const WHOLE = 1 << 18;
const SAMPLES = 128;
const SAMPLE = WHOLE / SAMPLES;

/** For counts of which only the sum is wanted: most texts are short, and an array costs more than they do. */
const spare: TextTally = new Float64Array(TEXT_KINDS.length + 1);

export function estimateTokens(text: string): number {
  countInto(spare.fill(0), text);
  let sum = 0;
  for (let i = 0; i < TEXT_KINDS.length; i += 1) sum += spare[i] as number;
  return Math.ceil(sum);
}

/** A long text that comes again and again is the prompt of agents that come after each other. */
const LONG_FROM = 2_048;
const LONG_TO = 1 << 16;
const MOST_LONG = 4;
const longTexts: { readonly text: string; readonly tally: TextTally }[] = [];

export function tallyTokens(text: string): TextTally {
  if (text.length < LONG_FROM || text.length > LONG_TO) return counted(text);
  const place = longTexts.findIndex((one) => one.text === text);
  const [known = { text, tally: counted(text) }] = place < 0 ? [] : longTexts.splice(place, 1);
  longTexts.unshift(known);
  if (longTexts.length > MOST_LONG) longTexts.pop();
  return known.tally.slice();
}

function counted(text: string): TextTally {
  const tally = new Float64Array(TEXT_KINDS.length + 1);
  countInto(tally, text);
  return tally.subarray(0, TEXT_KINDS.length);
}

function countInto(tally: TextTally, text: string): void {
  kindOf ??= kindsOfCharacters();
  if (text.length <= WHOLE) walk(text, 0, text.length, tally);
  else walkSamples(text, tally);
  partAccented(tally);
}

function walkSamples(text: string, tally: TextTally): void {
  const stride = (text.length - SAMPLE) / (SAMPLES - 1);
  for (let i = 0; i < SAMPLES; i += 1) {
    const start = Math.floor(i * stride);
    walk(text, start, start + SAMPLE, tally);
  }
  for (let i = 0; i < tally.length; i += 1) tally[i] = ((tally[i] as number) * text.length) / WHOLE;
}

/** Where letters have accents, the words are none of the language that vocabularies know best. */
function partAccented(tally: TextTally): void {
  const accents = tally[ACCENTS] as number;
  const words = tally[WORDS] as number;
  if (accents === 0) return;
  const moved = Math.min(words, 16 * accents);
  add(tally, WORDS, -moved);
  add(tally, ACCENTEDS, moved * 1.2 + accents * 0.3);
}

const PUNCTUATION = 0;
const SPACE = 1;
const NEWLINE = 2;
const DIGIT = 6;
const SYMBOL = 3;
const WIDE = 4;
const SURROGATE = 5;
const LOWER = 7;
const UPPER = 8;
const ACCENTED = 9;
const HAN = 10;
const HIRAGANA = 11;
const KATAKANA = 12;
const HANGUL = 13;
const CYRILLIC = 14;
const ARABIC = 15;
const INDIC = 16;
const THAI = 17;
const LETTER = 18;

/** By UTF-16 unit; made at first use. */
let kindOf: Uint8Array = undefined as never;

const RANGES: readonly (readonly [from: number, to: number, kind: number])[] = [
  [0x00, 0x7f, PUNCTUATION],
  [0x30, 0x39, DIGIT],
  [0x41, 0x5a, UPPER],
  [0x61, 0x7a, LOWER],
  [0x09, 0x09, SPACE],
  [0x0b, 0x0c, SPACE],
  [0x20, 0x20, SPACE],
  [0x0a, 0x0a, NEWLINE],
  [0x0d, 0x0d, NEWLINE],
  [0xa0, 0xa0, SPACE],
  [0xc0, 0x24f, ACCENTED],
  [0xd7, 0xd7, SYMBOL],
  [0xf7, 0xf7, SYMBOL],
  [0x250, 0x36f, ACCENTED],
  [0x370, 0x3ff, CYRILLIC],
  [0x400, 0x52f, CYRILLIC],
  [0x530, 0x5ff, ARABIC],
  [0x600, 0x6ff, ARABIC],
  [0x700, 0x8ff, LETTER],
  [0x900, 0xdff, INDIC],
  [0xe00, 0xeff, THAI],
  [0xf00, 0x10ff, LETTER],
  [0x1100, 0x11ff, HANGUL],
  [0x1200, 0x1fff, LETTER],
  [0x2c00, 0x2dff, LETTER],
  [0x2e80, 0x2fff, HAN],
  [0x3000, 0x303f, WIDE],
  [0x3040, 0x309f, HIRAGANA],
  [0x30a0, 0x30ff, KATAKANA],
  [0x3100, 0x9fff, HAN],
  [0x3130, 0x318f, HANGUL],
  [0xa000, 0xabff, LETTER],
  [0xac00, 0xd7ff, HANGUL],
  [0xd800, 0xdfff, SURROGATE],
  [0xf900, 0xfaff, HAN],
  [0xfb00, 0xfdff, ARABIC],
  [0xfe70, 0xfeff, ARABIC],
  [0xff00, 0xff65, WIDE],
  [0xff66, 0xff9f, KATAKANA],
  [0xffa0, 0xffdf, HANGUL],
];

function kindsOfCharacters(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(SYMBOL);
  for (const [from, to, kind] of RANGES) table.fill(kind, from, to + 1);
  return table;
}

/** Character before a piece of letters that belongs to it: none, a space, another one. */
const BARE = 0;
const SPACED = 1;
const MARKED = 2;

function walk(text: string, start: number, end: number, tally: TextTally): void {
  let i = start;
  while (i < end) {
    const kind = kindAt(text, i, end);
    if (kind >= HAN) i = script(text, i, end, tally);
    else if (kind >= DIGIT) i = run(text, i, end, BARE, tally);
    else if (kind === NEWLINE) i = newlines(text, i, end, tally);
    else {
      const next = kindAt(text, i + 1, end);
      if (next >= LOWER && kind !== SURROGATE) {
        if (kind >= SYMBOL) add(tally, kind === SYMBOL ? SYMBOLS : MARKS, SYMBOL_COST);
        i =
          next >= HAN
            ? script(text, i + 1, end, tally)
            : run(text, i + 1, end, kind === SPACE ? SPACED : MARKED, tally);
      } else if (kind === SPACE) i = spaces(text, i, end, tally);
      else i = marks(text, i, end, tally);
    }
  }
}

/** The end of the text counts as the end of a line. */
function kindAt(text: string, position: number, end: number): number {
  return position < end ? (kindOf[text.charCodeAt(position)] as number) : NEWLINE;
}

function add(tally: TextTally, place: number, cost: number): void {
  tally[place] = (tally[place] as number) + cost;
}

/** Letters of one script other than Latin. */
function script(text: string, start: number, end: number, tally: TextTally): number {
  const kind = kindAt(text, start, end);
  let i = start + 1;
  while (kindAt(text, i, end) === kind) i += 1;
  const length = i - start;
  if (kind === HAN) add(tally, HANS, 0.2 + 0.74 * length);
  else if (kind === HIRAGANA) add(tally, KANAS, 0.12 + 0.76 * length);
  else if (kind === KATAKANA) add(tally, KANAS, 0.2 + 0.6 * length);
  else if (kind === HANGUL) add(tally, HANGULS, 0.41 + 0.61 * length);
  else if (kind === CYRILLIC) add(tally, CYRILLICS, length < 4 ? 1 : 0.69 + 0.17 * length);
  else if (kind === ARABIC) add(tally, ARABICS, length < 3 ? 1 : 0.44 + 0.26 * length);
  else if (kind === THAI) add(tally, THAIS, 0.3 + 0.39 * length);
  else add(tally, OTHERS, length < 3 ? 1 : 0.35 + 0.28 * length);
  return i;
}

/** Costs of a piece of Latin letters by its length, for each of what may stand before it. */
const COSTS = [
  [0, 1, 1, 1.07, 1.06, 1.08, 1.12, 1.2, 1.36, 1.68, 1.55, 1.75, 2.1, 2.3, 2.6, 2.9, 3.2],
  [0, 1, 1, 1.01, 1.01, 1.02, 1.03, 1.04, 1.1, 1.2, 1.2, 1.25, 1.35, 1.45, 1.6, 1.9, 2.2],
  [0, 1.03, 1.07, 1.14, 1.18, 1.3, 1.35, 1.42, 1.65, 1.85, 2.2, 2.4, 2.6, 2.9, 3.2, 3.5, 3.8],
].map((costs) => Float64Array.from(costs));
/** The same for capitals alone. */
const CAPITAL_COSTS = [
  [0, 1, 1.03, 1.15, 1.35, 1.55, 1.75, 1.8, 2.1, 2.4, 2.7, 3, 3.2, 3.5, 3.8, 4, 4.2],
  [0, 1, 1, 1.12, 1.3, 1.45, 1.7, 1.6, 2, 2.3, 2.5, 2.8, 3.1, 3.4, 3.7, 4, 4.2],
  [0, 1.05, 1.1, 1.35, 1.4, 1.55, 1.65, 1.75, 2, 2.7, 2.9, 3.1, 3.3, 3.5, 3.8, 4, 4.2],
].map((costs) => Float64Array.from(costs));
const LONGEST = 16;
const COST_BEYOND = 0.3;
const SYMBOL_COST = 0.6;

/** A run this long whose pieces are this short on average is no text of people: a key, a hash, base64. */
const OPAQUE_LENGTH = 12;
const OPAQUE_PIECE = 3.2;
const OPAQUE_COST = 1.03;
const MIXED_OPAQUE_COST = 1.3;

/** Latin letters and digits without a gap, in pieces: capitals then small letters, or up to three digits. */
function run(text: string, start: number, end: number, prefix: number, tally: TextTally): number {
  const kinds = kindOf;
  let i = start;
  let pieces = 0;
  let letters = 0;
  let numbers = 0;
  let accents = 0;
  let capitals = 0;
  let smalls = 0;
  let before = prefix;
  let kind = kinds[text.charCodeAt(i)] as number;
  while (kind >= DIGIT && kind <= ACCENTED) {
    const first = i;
    pieces += 1;
    if (kind === DIGIT) {
      do kind = ++i < end ? (kinds[text.charCodeAt(i)] as number) : NEWLINE;
      while (kind === DIGIT);
      numbers += Math.ceil((i - first) / 3);
    } else {
      while (kind === UPPER) kind = ++i < end ? (kinds[text.charCodeAt(i)] as number) : NEWLINE;
      const small = i;
      while (kind === LOWER || kind === ACCENTED) {
        if (kind === ACCENTED) accents += 1;
        kind = ++i < end ? (kinds[text.charCodeAt(i)] as number) : NEWLINE;
      }
      letters += pieceCost(small - first, i - small, before);
      capitals += small - first;
      smalls += i - small;
    }
    before = BARE;
  }
  const length = i - start;
  if (length >= OPAQUE_LENGTH && pieces * OPAQUE_PIECE >= length) {
    const factor = capitals > 0 && smalls > 0 ? MIXED_OPAQUE_COST : OPAQUE_COST;
    add(tally, OPAQUES, (letters + numbers) * factor);
    return i;
  }
  add(tally, WORDS, letters);
  if (numbers > 0) add(tally, MARKS, numbers);
  if (accents > 0) add(tally, ACCENTS, accents);
  return i;
}

function pieceCost(capitals: number, smalls: number, prefix: number): number {
  const table = (smalls === 0 ? CAPITAL_COSTS : COSTS)[prefix] as Float64Array;
  const length = capitals + smalls;
  const cost =
    length <= LONGEST
      ? (table[length] as number)
      : (table[LONGEST] as number) + COST_BEYOND * (length - LONGEST);
  return capitals > 1 && smalls > 0 ? cost + 0.8 : cost;
}

function newlines(text: string, start: number, end: number, tally: TextTally): number {
  let i = start + 1;
  while (i < end && kindAt(text, i, end) === NEWLINE) i += 1;
  add(tally, MARKS, 1);
  return i;
}

/** The last space of several belongs to what follows, unless that is a digit. */
function spaces(text: string, start: number, end: number, tally: TextTally): number {
  let i = start + 1;
  while (kindAt(text, i, end) === SPACE) i += 1;
  const kind = kindAt(text, i, end);
  if (kind === NEWLINE) {
    add(tally, MARKS, i - start > 1 ? 1.3 : 0.6);
    return i;
  }
  if (kind !== DIGIT) {
    if (i - start === 1) return marks(text, i, end, tally);
    i -= 1;
  }
  add(tally, MARKS, 1);
  return i;
}

function marks(text: string, start: number, end: number, tally: TextTally): number {
  let i = start;
  let cost = 0;
  let symbols = 0;
  for (; i < end; i += 1) {
    const kind = kindAt(text, i, end);
    if (kind === PUNCTUATION) cost += 0.4;
    else if (kind === WIDE) cost += 1;
    else if (kind === SYMBOL) symbols += 1;
    else if (kind === SURROGATE) symbols += 0.9;
    else break;
  }
  while (i < end && kindAt(text, i, end) === NEWLINE) i += 1;
  add(tally, SYMBOLS, symbols);
  add(tally, MARKS, Math.max(cost, 1 - symbols));
  return i;
}
