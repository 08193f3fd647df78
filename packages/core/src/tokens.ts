/**
 * A simple estimate of how many tokens a text has, without a tokenizer. It is close to the o200k vocabulary.
 *
 * Tokenizers split text into words, groups of three digits and runs of punctuation first. The estimate walks the same pieces and
 * charges each by its length and script.
 */

/** Longer texts are measured at evenly spread samples, so that the time stays constant. */
const WHOLE = 1 << 18;
const SAMPLES = 128;
const SAMPLE = WHOLE / SAMPLES;

export function estimateTokens(text: string): number {
  return Math.ceil(tokensIn(text));
}

/** The same, not rounded. `scriptFactor` raises scripts other than Latin, whose cost differs most between vocabularies. */
export function tokensIn(text: string, scriptFactor = 1): number {
  if (text.length <= WHOLE) return walk(text, 0, text.length, scriptFactor);
  const stride = (text.length - SAMPLE) / (SAMPLES - 1);
  let sum = 0;
  for (let i = 0; i < SAMPLES; i += 1) {
    const start = Math.floor(i * stride);
    sum += walk(text, start, start + SAMPLE, scriptFactor);
  }
  return (sum * text.length) / WHOLE;
}

const PUNCTUATION = 0;
const SPACE = 1;
const NEWLINE = 2;
const SYMBOL = 3;
const DIGIT = 4;
const LOWER = 5;
const UPPER = 6;
const ACCENTED = 7;
/** Scripts other than Latin: their number is an index into `SCRIPTS`. */
const FIRST_SCRIPT = 8;

/** Tokens of a run of letters of a script: for the run, for each letter, and the code points of the script. */
const SCRIPTS: readonly (readonly [run: number, letter: number, ranges: string])[] = [
  [0.35, 0.28, "700-1fff 2c00-2dff a000-abff"],
  [0.69, 0.17, "370-52f"],
  [0.44, 0.26, "530-6ff fb00-fdff fe70-feff"],
  [0.3, 0.39, "e00-eff"],
  [0.2, 0.74, "2e80-2fff 3100-9fff f900-faff"],
  [0.15, 0.7, "3040-30ff ff66-ff9f"],
  [0.41, 0.61, "1100-11ff 3130-318f ac00-d7ff ffa0-ffdf"],
];
/** By kind; later ranges win. */
const LATIN = ["0-7f", "9-c 20-20 a0-a0", "a-a d-d", "a1-bf", "30-39", "61-7a", "41-5a", "c0-36f"];

/** By UTF-16 unit; made at first use. */
let kinds: Uint8Array | undefined;

function kindsOfCharacters(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(SYMBOL);
  [...LATIN, ...SCRIPTS.map(([, , ranges]) => ranges)].forEach((ranges, kind) => {
    for (const range of ranges.split(" ")) {
      const [from = 0, to = 0] = range.split("-").map((code) => Number.parseInt(code, 16));
      table.fill(kind, from, to + 1);
    }
  });
  return table;
}

function walk(text: string, start: number, end: number, scriptFactor: number): number {
  kinds ??= kindsOfCharacters();
  const table = kinds;
  const kindAt = (i: number): number => (i < end ? (table[text.charCodeAt(i)] as number) : NEWLINE);
  let sum = 0;
  let i = start;
  let before = NEWLINE;
  while (i < end) {
    const first = i;
    const kind = kindAt(i);
    if (kind >= DIGIT && kind < FIRST_SCRIPT) {
      i = endOfWord(kindAt, i);
      sum += wordTokens(first, i, kindAt, before);
    } else {
      do i += 1;
      while (kindAt(i) === kind && i < end);
      sum += runTokens(kind, i - first, kindAt(i)) * (kind < FIRST_SCRIPT ? 1 : scriptFactor);
    }
    before = kind;
  }
  return sum;
}

function endOfWord(kindAt: (i: number) => number, start: number): number {
  let i = start + 1;
  for (let kind = kindAt(i); kind >= DIGIT && kind < FIRST_SCRIPT; kind = kindAt(i)) i += 1;
  return i;
}

/** Runs of one kind that are not Latin letters or digits. */
function runTokens(kind: number, length: number, next: number): number {
  if (kind >= FIRST_SCRIPT) {
    const [run, letter] = SCRIPTS[kind - FIRST_SCRIPT] as (typeof SCRIPTS)[number];
    return Math.max(1, run + letter * length);
  }
  if (kind === SYMBOL) return length;
  if (kind === NEWLINE) return 1;
  // The last mark before a word belongs to the word.
  if (kind === PUNCTUATION)
    return next === LOWER || next === UPPER ? 0.1 + 0.4 * (length - 1) : Math.max(0.8, 0.4 * length);
  // One space belongs to the word behind it.
  return length > 1 || next === DIGIT ? 0.9 : next === NEWLINE ? 0.6 : 0;
}

/** A word this long with pieces this short is no text of people: a key, a hash, base64. */
const OPAQUE_LENGTH = 12;
const OPAQUE_PIECE = 3.2;
/** Accents show a language that vocabularies know less well; the words around them cost more, too. */
const ACCENT_COST = 3;
const MIXED_OPAQUE_COST = 1.25;

/** Latin letters and digits without a gap, in pieces: capitals then small letters, or up to three digits. */
function wordTokens(start: number, end: number, kindAt: (i: number) => number, before: number): number {
  let sum = 0;
  let pieces = 0;
  let accents = 0;
  let capitals = 0;
  let smalls = 0;
  let i = start;
  while (i < end) {
    const first = i;
    pieces += 1;
    if (kindAt(i) === DIGIT) {
      while (i < end && kindAt(i) === DIGIT) i += 1;
      sum += Math.ceil((i - first) / 3);
      continue;
    }
    while (i < end && kindAt(i) === UPPER) i += 1;
    const small = i;
    for (; i < end && (kindAt(i) === LOWER || kindAt(i) === ACCENTED); i += 1)
      if (kindAt(i) === ACCENTED) accents += 1;
    capitals += small - first;
    smalls += i - small;
    sum += pieceTokens(small - first, i - first, first === start && before === SPACE);
  }
  const length = end - start;
  const isOpaque = length >= OPAQUE_LENGTH && pieces * OPAQUE_PIECE >= length;
  if (isOpaque) return capitals > 0 && smalls > 0 ? sum * MIXED_OPAQUE_COST : sum;
  return sum + ACCENT_COST * accents;
}

/** Common words are one token with the space before them; long words and capitals are more. */
function pieceTokens(capitals: number, length: number, isSpaced: boolean): number {
  if (capitals === length) return 1 + 0.22 * Math.max(0, length - 2);
  const long = isSpaced
    ? 0.08 * Math.max(0, length - 7)
    : 0.04 * (length - 1) + 0.1 * Math.max(0, length - 7);
  return 1 + long + (capitals > 1 ? 0.8 : 0);
}
