/** A change of text as rows with line numbers: the lines that go, the lines that come, and a little around them. */
import { revealedLines, wrapped } from "../../terminal/revealed-text.ts";
import type { Theme } from "./theme.ts";

export interface DiffOptions {
  readonly width: number;
  readonly theme: Theme;
  /** Rows at most; the rest is counted. */
  readonly most: number;
}

const AROUND = 2;

/** `start` is the line of the file where the texts begin, from 1; undefined: the rows have no numbers. */
export function diffRows(
  before: string,
  after: string,
  start: number | undefined,
  { width, theme, most }: DiffOptions,
): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const shared = Math.min(old.length, now.length);
  let head = 0;
  while (head < shared && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shared - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const first = Math.max(0, head - AROUND);
  const size = String((start ?? 1) + Math.max(old.length, now.length)).length;
  const rows: string[] = [];
  const put = (mark: string, index: number, line: string, paint: (text: string) => string): void => {
    const number = start === undefined ? "" : `${String(start + index).padStart(size)} `;
    for (const [i, row] of wrapped(line, Math.max(width - size - 7, 10)).entries())
      rows.push(
        `  ${theme.dim(i === 0 ? number : " ".repeat(number.length))}${paint(`${i === 0 ? mark : " "} ${row}`)}`,
      );
  };
  for (let i = first; i < head; i++) put(" ", i, old[i] as string, theme.dim);
  for (let i = head; i < old.length - tail; i++) put("-", i, old[i] as string, theme.bad);
  for (let i = head; i < now.length - tail; i++) put("+", i, now[i] as string, theme.good);
  for (let i = now.length - tail; i < Math.min(now.length, now.length - tail + AROUND); i++)
    put(" ", i, now[i] as string, theme.dim);
  if (rows.length <= most) return rows;
  const hidden = rows.length - most + 1;
  return [...rows.slice(0, most - 1), theme.dim(`  … ${hidden} more rows`)];
}

function linesOf(text: string): readonly string[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .flatMap((line) => revealedLines(line));
}
