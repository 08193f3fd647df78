/**
 * The start and the end of a long text, in few characters.
 *
 * The whole text is only searched for line feeds. The result contains no slice of the text, because a slice would keep
 * all of it in memory.
 */
import { feedIndex } from "./lines.ts";

/** Lines of the beginning that are shown in any case, if need be each only in part. */
const HEAD_LINES = 10;
const MAX_HEAD_LINES = 40;
const MAX_TAIL_LINES = 20;
/** The part of the characters that the beginning gets. */
const HEAD_SHARE = 2 / 3;
/** Characters for remarks and line ends beyond the requested number. */
export const MAX_REMARKS_CHARACTERS = 500;

/** About `maxCharacters`, never more than `MAX_REMARKS_CHARACTERS` over it; a text that fits comes back whole. */
export function previewText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const headRoom = Math.floor(maxCharacters * HEAD_SHARE);
  const head = headOf(text, headRoom);
  const tail = tailOf(text, head.end, maxCharacters - headRoom);
  const gap = tail.start - head.end;
  const remark = gap > 1 ? [`[… ${gap} characters left out …]`] : [];
  // Joining copies; a template would hold on to the slices.
  return [...head.rows, ...remark, ...tail.rows].join("\n").replaceAll("\0", "\u2400");
}

interface Part {
  readonly rows: readonly string[];
  /** Start and end of the rows in the text. The part between is left out. */
  readonly start: number;
  readonly end: number;
}

/** Short lines leave their room to later ones. */
function headOf(text: string, room: number): Part {
  const lines = firstLines(text, HEAD_LINES);
  const rows: string[] = [];
  let left = room;
  let end = 0;
  lines.forEach(([from, to], index) => {
    const share = Math.max(1, Math.floor(left / (lines.length - index)));
    const cut = to - from <= share ? to : wholeCharacter(text, from + share);
    const remark = cut === to || to === text.length ? "" : `… [${to - cut} more characters]`;
    rows.push(text.slice(from, cut) + remark);
    left -= cut - from;
    end = remark === "" ? cut : to;
  });
  for (let start = end + 1; rows.length < MAX_HEAD_LINES && start < text.length; start = end + 1) {
    const next = feedIndex(text, start);
    if (next - start >= left || next === text.length) break;
    rows.push(text.slice(start, next));
    left -= next - start + 1;
    end = next;
  }
  return { rows, start: 0, end };
}

function firstLines(text: string, count: number): (readonly [start: number, end: number])[] {
  const lines: (readonly [number, number])[] = [];
  for (let start = 0; lines.length < count && start < text.length; ) {
    const end = feedIndex(text, start);
    lines.push([start, end]);
    start = end + 1;
  }
  return lines;
}

/** Whole lines, as far as they fit; of a last line that does not its end. */
function tailOf(text: string, from: number, room: number): Part {
  const window = Math.max(from, text.length - room);
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  if (window >= end) return { rows: [], start: end, end };
  const starts = [window === 0 || text.charCodeAt(window - 1) === 10 ? window : -1];
  for (let at = feedIndex(text, window); at < end; at = feedIndex(text, at + 1)) starts.push(at + 1);
  const whole = starts.filter((start) => start >= 0).slice(-MAX_TAIL_LINES);
  const start = whole[0] ?? wholeCharacter(text, window);
  const row = text.slice(start, end);
  return { rows: [whole.length > 0 ? row : `…${row}`], start, end };
}

/** `index`, or one less where it would cut a surrogate pair in two. */
function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index - 1);
  return code >= 0xd800 && code <= 0xdbff ? index - 1 : index;
}
