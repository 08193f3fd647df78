/** A call as a person reads it before deciding: every argument, with its size and what is odd about it. */
import { callWarnings } from "deepwright/approval-warnings";
import { bytes, count, grouped } from "../terminal/amounts.ts";
import type { Colours } from "../terminal/console.ts";
import { revealedLine, revealedLines, wrapped, wrappedWords } from "../terminal/revealed-text.ts";
import type { CallQuestion } from "./question.ts";

export interface ViewOptions {
  /** Columns a line may take. */
  readonly width: number;
  readonly colours: Colours;
  /** Long texts are shown to their last line. */
  readonly full: boolean;
  /** Files of the directory that steer other programs, besides those that are known by their names. */
  readonly controlPaths?: readonly string[];
}

/** Rows of a long text that are shown at once: its beginning and its end. */
const HEAD = 16;
const TAIL = 8;

export function callLines(call: CallQuestion, options: ViewOptions): readonly string[] {
  const { colours } = options;
  const description =
    call.description === undefined ? [] : block(revealedLines(call.description), "  ", options, wrappedWords);
  return [
    ...description,
    ...argumentLines(call, options),
    ...callWarnings({ name: call.tool, args: call.args }, options).flatMap((warning) =>
      wrappedWords(`! ${warning}`, options.width - 2).map((row) => colours.yellow(`  ${row}`)),
    ),
  ];
}

/** Whether `callLines` leaves something out unless it is `full`. */
export function isCut(call: CallQuestion, options: ViewOptions): boolean {
  const [short, full] = [false, true].map((full) => callLines(call, { ...options, full }).length);
  return short !== full;
}

function argumentLines({ tool, args }: CallQuestion, options: ViewOptions): readonly string[] {
  const { old_string: before, new_string: after, ...rest } = args;
  const isEdit = tool === "edit_file" && typeof before === "string" && typeof after === "string";
  const lines = Object.entries(isEdit ? rest : args).flatMap(([name, value]) =>
    valueLines(name, value, options),
  );
  if (isEdit) lines.push(...changeLines(before, after, options));
  return lines.length > 0 ? lines : ["  (no arguments)"];
}

function valueLines(name: string, value: unknown, options: ViewOptions): readonly string[] {
  const label = revealedLine(name.replaceAll("\n", "\\n"));
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  const lines = revealedLines(text);
  const isShort = lines.length === 1 && label.length + (lines[0] as string).length + 4 <= options.width;
  if (isShort && text !== "") return [`  ${label}: ${lines[0]}`];
  if (text === "") return [`  ${label}: (empty)`];
  return [`  ${label}: ${sizeWords(text)}`, ...block(lines, "  │ ", options)];
}

function sizeWords(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return `(${lines > 1 ? `${count(lines, "line")}, ` : ""}${bytes(Buffer.byteLength(text))})`;
}

/** Lines with a mark before each, so that none can pass for one of ours. */
function block(
  lines: readonly string[],
  mark: string,
  options: ViewOptions,
  cut = wrapped,
): readonly string[] {
  const rows = lines.flatMap((line) =>
    cut(line, options.width - mark.length).map(
      (row, i) => `${i === 0 ? mark : mark.replace("│", "┆")}${row}`,
    ),
  );
  return shortened(rows, options);
}

function shortened(rows: readonly string[], { full, colours }: ViewOptions): readonly string[] {
  if (full || rows.length <= HEAD + TAIL + 1) return rows;
  const hidden = rows.length - HEAD - TAIL;
  return [
    ...rows.slice(0, HEAD),
    colours.bold(`  … ${grouped(hidden)} rows are not shown: v shows all; this is the end: …`),
    ...rows.slice(-TAIL),
  ];
}

/** The lines that go and the lines that come, between those that stay. */
export function changeLines(before: string, after: string, options: ViewOptions): readonly string[] {
  const { colours } = options;
  const [old, now] = [revealedLines(before), revealedLines(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const part = (
    lines: readonly string[],
    mark: string,
    colour: (text: string) => string,
  ): readonly string[] =>
    shortened(
      lines.flatMap((line) => wrapped(line, options.width - 6).map((row) => colour(`  │ ${mark} ${row}`))),
      options,
    );
  const same = (text: string): string => text;
  return [
    `  change: ${sizeWords(before)} becomes ${sizeWords(after)}`,
    ...part(old.slice(0, start), " ", same),
    ...part(old.slice(start, old.length - end), "-", colours.red),
    ...part(now.slice(start, now.length - end), "+", colours.green),
    ...part(old.slice(old.length - end), " ", same),
  ];
}
