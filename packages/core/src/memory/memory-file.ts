/** A memory file as it was read, and how much of it is shown. */

import { countLines } from "../text/lines.ts";
import { textHash } from "../text/text-hash.ts";
import { estimateTokens } from "../tokens.ts";
import { commentsIn, withStandIns } from "./comments.ts";
import { harmless } from "./delimit.ts";

/** Kept in the state of the thread. Without `text`, `mark` and `problem`: it is not there. */
export interface MemoryFile {
  readonly path: string;
  /** The start of the file's text; absent if it could not be read, or is no longer needed. */
  readonly text?: string;
  /** Whether the file goes on behind `text`. */
  readonly goesOn?: boolean;
  /** The hash of all that was read. */
  readonly mark?: string;
  /** Comments in the beginning; where `text` is absent. */
  readonly comments?: readonly string[];
  /** Why it could not be read. */
  readonly problem?: string;
  /** Found where the agent works; not a source. */
  readonly nested?: boolean;
  /** The prompt tells the model not to change it. */
  readonly readOnly?: boolean;
  /** The source is not trusted: the content is outside the system prompt, as data. */
  readonly untrusted?: boolean;
}

/** Answer of a backend: all of the text or its beginning, a problem, or neither when nothing is there. */
export interface ReadFile {
  readonly path: string;
  readonly text?: string;
  readonly goesOn?: boolean;
  readonly problem?: string;
}

/** `limit` in characters. */
export function memoryFile({ path, text, goesOn = false, problem }: ReadFile, limit: number): MemoryFile {
  if (problem !== undefined) return { path, problem };
  if (text === undefined) return { path };
  const beginning = beginningOf(text, limit);
  const isCut = goesOn || beginning.length < text.length;
  return { path, text: beginning, ...(isCut && { goesOn: true }), mark: textHash(text) };
}

/** Whether an announcement would be news to the model. */
export function isSame(one: MemoryFile, other: MemoryFile): boolean {
  return one.mark === other.mark && one.problem === other.problem;
}

/** Whether there is neither a file nor a reason why it could not be read. */
export function isMissing(file: MemoryFile): boolean {
  return file.mark === undefined && file.problem === undefined;
}

export function knownComments(file: MemoryFile): readonly string[] {
  return file.comments ?? commentsIn(file.text ?? "").map(({ text }) => text);
}

/** The stored facts about a file whose text is not needed again. */
export function withoutText({ text, goesOn, ...file }: MemoryFile): MemoryFile {
  const comments = commentsIn(text ?? "").map((comment) => comment.text);
  return comments.length === 0 ? file : { ...file, comments };
}

/** Ends with a whole line where there is one, and never within a comment. */
export function beginningOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit < 1) return "";
  const lineEnd = text.lastIndexOf("\n", limit - 1) + 1;
  const end = lineEnd > limit / 2 ? lineEnd : wholeCharacters(text, limit);
  const parted = commentsIn(text).find((comment) => comment.start < end && comment.end > end);
  return text.slice(0, parted?.start ?? end);
}

function wholeCharacters(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}

export interface Shown {
  readonly text: string;
  /** Lines of the file that are not shown at its end begin behind this many; absent: it is shown whole. */
  readonly lines?: number;
}

/** The text as the model sees it, in at most `limit` characters and about `tokens` tokens. */
export function shownText(file: MemoryFile, limit: number, tokens = Number.POSITIVE_INFINITY): Shown {
  const whole = file.text ?? "";
  let part = beginningOf(whole, limit);
  let text = harmless(withStandIns(part));
  for (let share = fitting(text, limit, tokens); share < 1; share = fitting(text, limit, tokens)) {
    part = beginningOf(part, Math.floor(part.length * Math.min(0.9, share)));
    text = harmless(withStandIns(part));
  }
  const isWhole = part.length === whole.length && file.goesOn !== true;
  return isWhole ? { text } : { text, lines: part.endsWith("\n") ? countLines(part) : wholeLines(part) };
}

/** The share of the text that there is room for. */
function fitting(text: string, limit: number, tokens: number): number {
  if (text === "") return 1;
  const size = tokens === Number.POSITIVE_INFINITY ? 0 : estimateTokens(text);
  return Math.min(limit / text.length, size === 0 ? 1 : Math.max(0, tokens) / size);
}

/** The last line is not shown to its end. */
function wholeLines(part: string): number {
  return Math.max(0, countLines(part) - 1);
}
