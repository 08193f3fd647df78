/**
 * Lines in the form of `cat -n`: a right-aligned number, the bar `│`, then the exact line.
 *
 * The bar is not a tab and nothing is between it and the text, so the gutter cannot be taken for indentation. Rows that
 * begin with `…` instead of a number are remarks, not text of the file.
 */
import { afterLineEnd, longLineEndIndex } from "./lines.ts";

export const GUTTER = "│";
/** Characters of one line shown at once. */
export const MAX_LINE_CHARACTERS = 2000;
/** The limit for a reader that continues inside a line: the rest of the line is the point of the call. */
export const MAX_REST_CHARACTERS = 20_000;
/** Width of a number, the bar and a remark, at most. */
const ROW_EXTRA = 120;
/** However small the room is, a line gets on by this much. */
const LEAST_CHARACTERS = 100;

export interface NumberLinesOptions {
  /** The number of the first line. */
  readonly startLine: number;
  /** How many lines `content` holds, where an empty last line without its end would be missed. */
  readonly lines?: number;
  /** Characters of the first line to skip. */
  readonly column?: number;
  /** No line is begun past this many characters; the first one always is, and is cut if need be. */
  readonly maxCharacters?: number;
}

export type NumberedLines =
  | { readonly text: string; readonly endLine: number; readonly error?: undefined }
  | { readonly error: string; readonly code: "INVALID_ARGUMENT" };

/** `endLine` is the last line shown; fewer than given when `maxCharacters` was reached. */
export function numberLines(content: string, options: NumberLinesOptions): NumberedLines {
  const { startLine, lines = 0, column = 0, maxCharacters = Number.POSITIVE_INFINITY } = options;
  const firstLength = longLineEndIndex(content, 0);
  if (column > 0 && column >= firstLength) return pastLineEnd(column, startLine, firstLength);
  const rows: string[] = [];
  const longest = Math.max(LEAST_CHARACTERS, maxCharacters - ROW_EXTRA);
  let number = startLine;
  let size = 0;
  for (let start = 0; start < content.length || rows.length < lines; number++) {
    const end = start === 0 ? firstLength : longLineEndIndex(content, start);
    const isRest = number === startLine && column > 0;
    const most = Math.min(isRest ? MAX_REST_CHARACTERS : MAX_LINE_CHARACTERS, longest);
    const row = numberedRow(content, start + (isRest ? column : 0), end, { start, number, most });
    size += row.length + 1;
    if (rows.length > 0 && size > maxCharacters) break;
    rows.push(row);
    start = afterLineEnd(content, end);
  }
  return { text: rows.join("\n"), endLine: number - 1 };
}

/** Whether `text` holds rows of our gutter: a sign that line numbers were copied along. */
export function hasGutter(text: string): boolean {
  return /^ *\d+│/m.test(text);
}

interface Row {
  /** Where the line begins. */
  readonly start: number;
  readonly number: number;
  /** Characters. */
  readonly most: number;
}

function numberedRow(content: string, from: number, end: number, { start, number, most }: Row): string {
  const gutter = `${String(number).padStart(6)}${GUTTER}`;
  if (end - from <= most) return gutter + content.slice(from, end);
  const cut = wholeCharacter(content, from + most);
  const remark = `… line ${number} goes on for ${end - cut} characters: offset=${number - 1}, column=${cut - start}`;
  return `${gutter}${content.slice(from, cut)}\n${remark}`;
}

/** `index`, or one less where it would cut a surrogate pair in two. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index - 1);
  return code >= 0xd800 && code <= 0xdbff ? index - 1 : index;
}

function pastLineEnd(column: number, line: number, length: number): NumberedLines {
  return {
    error: `Column ${column} is past the end of line ${line}, which has ${length} characters`,
    code: "INVALID_ARGUMENT",
  };
}
