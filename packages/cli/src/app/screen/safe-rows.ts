/** The last check before a terminal: rows hold text and colours, nothing that steers the terminal. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Marks the caret in a row; the driver takes it out. */
export const CARET = "\x1b_pi:c\x07";

/** Colours and styles, which are the only sequences a row may carry. */
const STYLE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");
const BLANK_END = new RegExp(`(?: |(?<= )${String.fromCharCode(27)}\\[[0-9;]*m)+$`);
const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A row without control characters or sequences other than styles, not wider than `width`. */
export function safeRow(row: string, width: number): string {
  let safe = "";
  let last = 0;
  for (const { 0: style, index } of row.matchAll(STYLE)) {
    safe += withoutControls(row.slice(last, index)) + style;
    last = index + style.length;
  }
  safe += withoutControls(row.slice(last));
  const fitting = visibleWidth(safe) > width ? truncateToWidth(safe, width, "…") : safe;
  return trimmedEnd(fitting);
}

function withoutControls(text: string): string {
  return text.replaceAll("\t", "    ").replace(CONTROL, "");
}

/** Blanks at the end would wrap when the terminal becomes narrower. Those with a background stay. */
function trimmedEnd(row: string): string {
  if (row.includes("\x1b[4") || row.includes("\x1b[7m")) return row;
  return row.replace(BLANK_END, (tail) => tail.replaceAll(" ", ""));
}

/** Where the caret is in the rows; the marker itself is removed. */
export function takeCaret(rows: readonly string[]): {
  readonly rows: readonly string[];
  readonly caret: { readonly row: number; readonly column: number } | undefined;
} {
  const row = rows.findIndex((text) => text.includes(CARET));
  if (row === -1) return { rows, caret: undefined };
  const text = rows[row] as string;
  const column = visibleWidth(text.slice(0, text.indexOf(CARET)));
  return { rows: rows.with(row, text.replaceAll(CARET, "")), caret: { row, column } };
}
