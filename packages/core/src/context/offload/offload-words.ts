/** Text that the model sees in the place of a text that is too long. */
import { showPath } from "../../paths.ts";
import { countLines } from "../../text/lines.ts";
import { previewText } from "../../text/preview.ts";

/** Characters shown of a text that can be read elsewhere. */
const PREVIEW_CHARACTERS = 4000;
/** Characters of a text that is lost but for these. */
const LAST_CHARACTERS = 20_000;
const LEAST_CHARACTERS = 400;

export interface ShownText {
  /** `result`, `message`, `argument content`. */
  readonly what: string;
  readonly text: string;
  /** Tokens it was too long by; no preview is longer. */
  readonly limit: number;
  /** Whether the model can read files. */
  readonly canRead: boolean;
}

/** `path` is where all of it is. */
export function offloadedWords({ what, text, limit, canRead }: ShownText, path: string): string {
  const how = canRead ? " Read what you need of it with read_file (offset, limit)." : "";
  const remark = `[This ${what} is too long to be shown: ${sizeOf(text)}. All of it is in '${showPath(path)}'.${how}]`;
  return `${remark}\n${previewText(text, room(limit, PREVIEW_CHARACTERS))}`;
}

/** The rest is gone. */
export function lostWords({ what, text, limit }: ShownText, reason: string): string {
  const remark = `[This ${what} is too long to be shown: ${sizeOf(text)}. The rest of it could not be kept: ${reason}.]`;
  return `${remark}\n${previewText(text, room(limit, LAST_CHARACTERS))}`;
}

/** The text in place of a result that the model can get again. */
export function cutWords({ what, text, limit }: ShownText): string {
  const remark = `[This ${what} is too long to be shown: ${sizeOf(text)}. Ask for less to see what was left out.]`;
  return `${remark}\n${previewText(text, room(limit, LAST_CHARACTERS))}`;
}

/** A character is seldom more than one token. */
function room(limit: number, most: number): number {
  return Math.max(LEAST_CHARACTERS, Math.min(most, limit));
}

/** Lines of longer texts are not counted: that would cost more than keeping the text. */
const COUNTED_CHARACTERS = 1_000_000;

function sizeOf(text: string): string {
  if (text.length > COUNTED_CHARACTERS) return `${text.length} characters`;
  const lines = countLines(text);
  return `${lines} ${lines === 1 ? "line" : "lines"}, ${text.length} characters`;
}
