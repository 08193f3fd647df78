/** Edits that a script can do where the file lies, because a place in its bytes is a place in its text. */
import { normalizeLineEnds } from "../../text/lines.ts";
import type { Encoding } from "../disk/detect-encoding.ts";
import { decodePart, encodePart, missingCharacter } from "../disk/text-codec.ts";

export interface PlainEdit {
  /** With `\n` for its line ends. */
  readonly old: string;
  readonly replacement: string;
}

/** An edit as the script takes it. */
export interface SpelledEdit {
  /** The old text, and the new one, each with a line end behind it. */
  readonly content: Buffer;
  readonly oldRows: number;
  /** Of both. */
  readonly rows: number;
  /** Whether line ends become those of the file; who spells `\r` means it. */
  readonly turns: boolean;
  /** Which places count: see `edit-script.ts`. */
  readonly trust: "" | "ascii" | "any" | "pairs" | "quads";
  /** Characters of two bytes, or one, that may stand before the old text or reach into it: see `highPairs`. */
  readonly table: string;
}

/** What a script cannot hold, and the private characters that stand for bytes astray. */
const ODD = /\0|[\u{10fe00}-\u{10feff}]/u;

/** Undefined where there is more to think about, also about the words of an error. */
export function plainEdit(oldString: string, newString: string): PlainEdit | undefined {
  const old = normalizeLineEnds(oldString);
  if (old === "" || old === normalizeLineEnds(newString)) return undefined;
  if (!old.isWellFormed() || !newString.isWellFormed()) return undefined;
  if (old.startsWith("\ufeff") || ODD.test(old) || ODD.test(newString)) return undefined;
  return { old, replacement: newString };
}

/** For a file of which nothing is known. */
export function spelledEdit(edit: PlainEdit): SpelledEdit {
  return spelled(edit, "utf-8", isAscii(edit) ? "ascii" : "");
}

/**
 * For a file in `encoding` that `spelledEdit` did not do. Undefined where a script cannot tell the characters from parts
 * of others, and where a text cannot be written in the encoding: which error that is depends on the file.
 */
export function encodedEdit(edit: PlainEdit, encoding: Encoding): SpelledEdit | undefined {
  const trust = TRUST[encoding];
  if (trust === undefined) return undefined;
  if (encoding === "big5" && COMBINED.test(edit.old + edit.replacement)) return undefined;
  if ([edit.old, edit.replacement].some((text) => missingCharacter(text, encoding))) return undefined;
  const spelling = spelled(edit, encoding, trust);
  if (trust === "any") return spelling;
  return {
    ...spelling,
    table: [highPairs(encoding), pairsBefore(spelling.content[0] as number, encoding)].join("."),
  };
}

/** UTF-16 is not here: a script knows it by its mark. */
const TRUST: Readonly<Partial<Record<Encoding, "any" | "pairs" | "quads">>> = {
  "utf-8": "any",
  "windows-1252": "any",
  "windows-1251": "any",
  "koi8-r": "any",
  "iso-8859-7": "any",
  shift_jis: "pairs",
  big5: "pairs",
  "euc-jp": "pairs",
  "euc-kr": "pairs",
  gb18030: "quads",
};

/** In Big5 two of these may be one code. */
const COMBINED = /\u00ca|\u00ea|\u0304|\u030c/;

function spelled(edit: PlainEdit, encoding: Encoding, trust: SpelledEdit["trust"]): SpelledEdit {
  const { old, replacement } = edit;
  return {
    content: encodePart(`${old}\n${replacement}\n`, encoding),
    oldRows: old.split("\n").length,
    rows: `${old}\n${replacement}`.split("\n").length,
    turns: replacement.includes("\n") && !replacement.includes("\r"),
    trust,
    table: "",
  };
}

const tables = new Map<Encoding, string>();

/**
 * By three numbers: a byte over 127, and the first and last of some that make a character with it, or zeros where it is
 * one by itself.
 */
function highPairs(encoding: Encoding): string {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = HIGH.flatMap((lead) => runsFrom(lead, encoding)).join(".");
  tables.set(encoding, table);
  return table;
}

/** Of those that end with `trail`, in the same form: where a script finds one, the old text does not begin within it. */
function pairsBefore(trail: number, encoding: Encoding): string {
  const isPair = (lead: number): boolean => !ODD.test(decodePart(Buffer.from([lead, trail]), encoding));
  return HIGH.filter(isPair)
    .flatMap((lead) => [lead, trail, trail])
    .join(".");
}

const HIGH = Array.from({ length: 128 }, (_, index) => 128 + index);
const SPACE = 32;

function runsFrom(lead: number, encoding: Encoding): number[] {
  if (!ODD.test(decodePart(Buffer.from([lead, SPACE]), encoding))) return [lead, 0, 0];
  const words = decodePart(Buffer.from(HIGH.flatMap((trail) => [lead, trail, SPACE])), encoding).split(" ");
  const isCharacter = (trail: number): boolean => trail < 256 && !ODD.test(words[trail - 128] as string);
  const runs: number[] = [];
  for (const trail of HIGH) {
    if (!isCharacter(trail)) continue;
    if (trail === 128 || !isCharacter(trail - 1)) runs.push(lead, trail);
    if (!isCharacter(trail + 1)) runs.push(trail);
  }
  return runs;
}

/** Whether both texts are. */
export function isAscii({ old, replacement }: PlainEdit): boolean {
  const text = old + replacement;
  return Buffer.byteLength(text) === text.length;
}
