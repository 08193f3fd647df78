/** A page of a text by lines. It reads only the shown, skipped and counted lines. */
import { afterLineEnd, countLines, lineEndIndex } from "./lines.ts";

export const DEFAULT_PAGE_LINES = 2000;
/** Up to this many characters the lines of a text are counted even when the page stops before its end. */
const COUNTED_SIZE = 1_000_000;

export interface Page {
  /**
   * The exact lines of the file with their line ends. The last line has its end only at the end of the file, so that a
   * whole file is unchanged.
   */
  readonly content: string;
  /** 1-based; absent for an empty file. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** Absent on the last page. */
  readonly nextOffset?: number;
  /** Absent when the text is large and its end was not reached. */
  readonly totalLines?: number;
  readonly error?: undefined;
}

export interface PageError {
  readonly error: string;
  readonly code: "INVALID_ARGUMENT";
}

/**
 * Makes whole, usable numbers from a model's arguments: an offset that is not a positive number is 0, a limit below 1
 * is the default. An infinite limit means to the end.
 */
export function normalizeReadPagination(
  offset?: number | null,
  limit?: number | null,
): { offset: number; limit: number } {
  const start = Number.isFinite(offset) ? Math.max(0, Math.floor(offset as number)) : 0;
  const lines = typeof limit === "number" && limit >= 1 ? Math.floor(limit) : DEFAULT_PAGE_LINES;
  return { offset: start, limit: lines };
}

/** `offset` counts lines from 0. An offset past the end is an error that names the number of lines. */
export function pageOf(text: string, offset?: number | null, limit?: number | null): Page | PageError {
  const window = normalizeReadPagination(offset, limit);
  if (text === "") return { content: "", totalLines: 0 };
  let start = 0;
  for (let line = 0; line < window.offset; line++) {
    start = afterLineEnd(text, lineEndIndex(text, start));
    if (start >= text.length) return pastEnd(window.offset, line + 1);
  }
  let end = start;
  let next = start;
  let shown = 0;
  while (shown < window.limit && next < text.length) {
    end = lineEndIndex(text, next);
    next = afterLineEnd(text, end);
    shown += 1;
  }
  const lastLine = window.offset + shown;
  const lines = { startLine: window.offset + 1, endLine: lastLine };
  if (next >= text.length) return { content: text.slice(start), ...lines, totalLines: lastLine };
  const content = text.slice(start, end);
  if (text.length > COUNTED_SIZE) return { content, ...lines, nextOffset: lastLine };
  return { content, ...lines, nextOffset: lastLine, totalLines: countLines(text) };
}

function pastEnd(offset: number, total: number): PageError {
  return {
    error: `Offset ${offset} is past the end of the file, which has ${total} ${total === 1 ? "line" : "lines"}`,
    code: "INVALID_ARGUMENT",
  };
}
