/**
 * Replaces literal text in a file.
 *
 * Readers see `\n` line ends for every file, so matching ignores the kind of line end. New text gets the line ends of
 * its surroundings, and every other byte stays.
 */
import { textFinder } from "./linear-search.ts";
import { afterLineEnd, countLines, lineEndIndex, normalizeLineEnds } from "./lines.ts";
import { hasGutter } from "./number-lines.ts";
import { linesLike } from "./similar-lines.ts";

export type EditErrorCode = "INVALID_ARGUMENT" | "STRING_NOT_FOUND" | "STRING_NOT_UNIQUE";

export type EditedText =
  | { readonly text: string; readonly occurrences: number; readonly error?: undefined }
  | { readonly error: string; readonly code: EditErrorCode };

const MAX_QUOTE = 500;
const MAX_LINES_NAMED = 5;

/** Replaces the only occurrence of `oldString`, or all of them; in an empty file `""` stands for all of it. */
export function replaceText(
  text: string,
  oldString: string,
  newString: string,
  replaceAll = false,
): EditedText {
  const needle = normalizeLineEnds(oldString);
  if (needle === normalizeLineEnds(newString))
    return refuse("INVALID_ARGUMENT", "old_string and new_string are the same: nothing to change");
  if (needle === "") return text === "" ? { text: newString, occurrences: 1 } : emptyNeedle();
  const shown = normalizeLineEnds(text);
  const found = occurrencesOf(needle, shown);
  if (found.length === 0)
    return refuse(
      "STRING_NOT_FOUND",
      `String not found in file: '${quote(oldString)}'${hint(shown, needle)}`,
    );
  if (found.length > 1 && !replaceAll)
    return refuse(
      "STRING_NOT_UNIQUE",
      `String '${quote(oldString)}' appears ${found.length} times in file. Use replace_all=True to replace all, ` +
        `or add surrounding text to old_string to make it unique (${linesOf(shown, found)})`,
    );
  return { text: splice(text, found, needle.length, newString), occurrences: found.length };
}

function occurrencesOf(needle: string, text: string): number[] {
  const found: number[] = [];
  const find = textFinder(needle);
  for (let at = find(text, 0); at !== -1; at = find(text, at + needle.length)) found.push(at);
  return found;
}

/** Replaces the matches in the original text. Their positions are those in the normalised text. */
function splice(text: string, found: readonly number[], length: number, replacement: string): string {
  const toRaw = rawPositions(text);
  const parts: string[] = [];
  let kept = 0;
  for (const at of found) {
    const start = toRaw(at);
    const end = toRaw(at + length);
    parts.push(text.slice(kept, start), withLocalLineEnds(text, start, end, replacement));
    kept = end;
  }
  parts.push(text.slice(kept));
  return parts.join("");
}

/** Maps positions of the normalised text to the raw one; must be asked in ascending order. */
function rawPositions(text: string): (position: number) => number {
  let pair = text.indexOf("\r\n");
  let shift = 0;
  return (position) => {
    while (pair !== -1 && pair - shift < position) {
      shift += 1;
      pair = text.indexOf("\r\n", pair + 2);
    }
    return position + shift;
  };
}

/** A replacement that contains `\r` itself is used unchanged. */
function withLocalLineEnds(text: string, start: number, end: number, replacement: string): string {
  if (!replacement.includes("\n") || replacement.includes("\r")) return replacement;
  const lineEnd = lineEndNear(text, start, end);
  return lineEnd === "\n" ? replacement : replacement.replaceAll("\n", lineEnd);
}

/** The line end inside the match, else the next one, else the one before. */
function lineEndNear(text: string, start: number, end: number): string {
  const inside = lineEndIndex(text, start);
  const at = inside < end ? inside : lineEndIndex(text, end);
  if (at < text.length) return text.slice(at, afterLineEnd(text, at));
  const before = Math.max(text.lastIndexOf("\n", start - 1), text.lastIndexOf("\r", start - 1));
  if (start === 0 || before === -1) return "\n";
  return text.slice(text[before] === "\n" && text[before - 1] === "\r" ? before - 1 : before, before + 1);
}

/** Why text the model believed to be there was not found, as far as one can tell. */
function hint(text: string, needle: string): string {
  if (hasGutter(needle)) return ". Leave line numbers and the bar after them out of old_string";
  if (needle.endsWith("\n") && text.endsWith(needle.slice(0, -1)))
    return ". The last line of the file has no newline at its end; leave it out of old_string";
  const lines = linesLike(text, needle);
  if (lines !== undefined)
    return `. The file has these lines, which differ in white space only; give them as old_string:\n\`\`\`\n${lines}\n\`\`\``;
  const line = needle
    .split("\n")
    .map((part) => part.trim())
    .find((part) => part.length > 3);
  const near = line === undefined ? -1 : textFinder(line)(text, 0);
  if (near === -1) return "";
  return `. Line ${lineNumber(text, near)} is similar: compare whitespace and the lines around it`;
}

function linesOf(text: string, found: readonly number[]): string {
  const numbers = found.slice(0, MAX_LINES_NAMED).map((at) => lineNumber(text, at));
  return `lines ${numbers.join(", ")}${found.length > MAX_LINES_NAMED ? ", …" : ""}`;
}

function lineNumber(text: string, position: number): number {
  return countLines(`${text.slice(0, position)}x`);
}

function quote(text: string): string {
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text;
}

function emptyNeedle(): EditedText {
  return refuse(
    "INVALID_ARGUMENT",
    "old_string is empty, but the file has content: give the text to replace",
  );
}

function refuse(code: EditErrorCode, error: string): EditedText {
  return { error, code };
}
