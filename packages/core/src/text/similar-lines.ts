/** Finds lines that differ from given ones in white space only. Its time is linear. */
import { textFinder } from "./linear-search.ts";

/** Longer texts are not quoted: the model reads the file instead. */
const LONGEST_QUOTE = 2_000;

/** Longer files are not searched: the search holds up everybody on the event loop. */
const LONGEST_TEXT = 500_000;

/**
 * The only lines of `text` that equal those of `wanted` when indentation, runs of blanks and blanks at line ends do not
 * count. Undefined for no match, several matches, or lines too long to quote. Both texts have `\n` line ends.
 */
export function linesLike(text: string, wanted: string): string | undefined {
  if (wanted.length > LONGEST_QUOTE || text.length > LONGEST_TEXT) return undefined;
  const needle = `\n${loose(trimmedEnds(wanted))}\n`;
  if (needle.trim() === "") return undefined;
  const lines = text.split("\n");
  const all = `\n${lines.map(looseLine).join("\n")}\n`;
  const find = textFinder(needle);
  const at = find(all, 0);
  if (at === -1 || find(all, at + 1) !== -1) return undefined;
  const first = lineEndsIn(all, at);
  const found = lines.slice(first, first + lineEndsIn(needle, needle.length - 1)).join("\n");
  return found.length <= LONGEST_QUOTE ? found : undefined;
}

/** Without empty lines at its ends. */
function trimmedEnds(text: string): string {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(Math.max(0, first), last + 1).join("\n");
}

function loose(text: string): string {
  return text.split("\n").map(looseLine).join("\n");
}

function looseLine(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

/** Line ends before `end`. */
function lineEndsIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
