/** A line ends with `\n`, `\r\n` or a lone `\r`; a missing final line end does not make another line. */

export type LineEnd = "\n" | "\r\n" | "\r";

export interface Line {
  readonly text: string;
  /** `""` only on a last line without a line end. */
  readonly end: LineEnd | "";
}

const LINE_END = /[\r\n]/g;

/** The index of the first line end at or after `from`; the length of the text when there is none. */
export function lineEndIndex(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.test(text) ? LINE_END.lastIndex - 1 : text.length;
}

const FIRST_WINDOW = 1024;

/** The same, ten times as fast where the line is long, and slower where it is short. */
export function longLineEndIndex(text: string, from: number): number {
  for (let start = from, size = FIRST_WINDOW; start < text.length; ) {
    const window = text.slice(start, start + size);
    const feed = window.indexOf("\n");
    const before = feed === -1 ? window : window.slice(0, feed);
    const at = before.indexOf("\r");
    if (at !== -1 || feed !== -1) return start + (at === -1 ? feed : at);
    start += size;
    size *= 4;
  }
  return text.length;
}

/** The same for text without `\r`, several times as fast. */
export function feedIndex(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at;
}

/** The index after the line end at `index`: where the next line starts. */
export function afterLineEnd(text: string, index: number): number {
  if (index >= text.length) return text.length;
  return text.charCodeAt(index) === 13 && text.charCodeAt(index + 1) === 10 ? index + 2 : index + 1;
}

/** Every line with the line end it has: joining texts and ends gives the text back. */
export function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const end = lineEndIndex(text, start);
    const next = afterLineEnd(text, end);
    lines.push({ text: text.slice(start, end), end: text.slice(end, next) as Line["end"] });
    start = next;
  }
  return lines;
}

/** `"a\nb"` and `"a\nb\n"` have two lines, `""` has none. */
export function countLines(text: string): number {
  if (text === "") return 0;
  const ends = text.includes("\r") ? countAnyEnds(text) : countFeeds(text);
  const last = text.charCodeAt(text.length - 1);
  return last === 10 || last === 13 ? ends : ends + 1;
}

/** The text with every line end as `\n`. */
export function normalizeLineEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

function countFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Each `\n`, and each `\r` that no `\n` follows. */
function countAnyEnds(text: string): number {
  let count = countFeeds(text);
  for (let at = text.indexOf("\r"); at !== -1; at = text.indexOf("\r", at + 1))
    if (text.charCodeAt(at + 1) !== 10) count += 1;
  return count;
}
