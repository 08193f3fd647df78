/**
 * Finds literal text in text, the same on every backend.
 *
 * A match is a line that contains the pattern, or in which it begins; its text has no line end, and line ends are those
 * of `lines.ts`. Binary data, with a zero in its first 8 KiB, is not searched.
 */
import type { TextFinder } from "./linear-search.ts";
import { afterLineEnd, feedIndex, lineEndIndex } from "./lines.ts";

export interface FoundLine {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** Most characters of a pattern. */
export const MAX_PATTERN_LENGTH = 10_000;

/** A zero in so many bytes at the start of a file means that it is not text. */
export const BINARY_HEAD = 8192;

export function invalidPattern(
  pattern: string,
): { readonly error: string; readonly code: "INVALID_PATTERN" } | undefined {
  if (pattern === "") return { error: "Pattern is empty", code: "INVALID_PATTERN" };
  if (pattern.length > MAX_PATTERN_LENGTH)
    return { error: `Pattern is longer than ${MAX_PATTERN_LENGTH} characters`, code: "INVALID_PATTERN" };
  return undefined;
}

/** The number of matches asked for; no limit where the number is no count. */
export function matchLimit(maxCount: number | null | undefined): number {
  return typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
}

/**
 * Adds each line that `find` matches; false as soon as `matches` would have more than `limit`. `first` is the index of
 * the first occurrence.
 */
export function findLines(
  matches: FoundLine[],
  path: string,
  text: string,
  find: TextFinder,
  limit: number,
  first = find(text, 0),
): boolean {
  if (first === -1) return true;
  const endOfLine = text.includes("\r") ? lineEndIndex : feedIndex;
  let start = 0;
  let line = 1;
  for (let at = first; at !== -1; at = find(text, start)) {
    let end = endOfLine(text, start);
    let next = afterLineEnd(text, end);
    while (next <= at) {
      start = next;
      line += 1;
      end = endOfLine(text, start);
      next = afterLineEnd(text, end);
    }
    if (matches.length >= limit) return false;
    matches.push({ path, line, text: text.slice(start, end) });
    if (next >= text.length) return true;
    start = next;
    line += 1;
  }
  return true;
}

/** Whether bytes of this text would be taken for binary. */
export function isBinaryText(text: string): boolean {
  const zero = text.slice(0, BINARY_HEAD).indexOf("\0");
  return zero !== -1 && new TextEncoder().encode(text.slice(0, zero)).length < BINARY_HEAD;
}
