/**
 * Text as a person must see it before agreeing to it: whatever would be invisible, would hide something or would move
 * something is written out. Stricter than `safeText`, which is for reading along.
 */
import { escaped, GAP, GAP_LINES, HIDDEN } from "deepwright/approval-warnings";
import { grouped } from "./amounts.ts";

const BLANKS = new RegExp(`[ \\t]{${GAP},}`, "g");
const MOST_DOTS = 8;

/** One line; it must hold no line break. Blanks at its end are dots, long runs of blanks are counted. */
export function revealedLine(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return `${revealed(line.slice(0, end))}${revealedEnd(line.slice(end))}`;
}

function revealed(text: string): string {
  return text
    .replace(BLANKS, (blanks) => `⟨${grouped(blanks.length)} blanks⟩`)
    .replaceAll("\t", "⇥   ")
    .replace(HIDDEN, escaped);
}

function revealedEnd(blanks: string): string {
  if (blanks.length > MOST_DOTS) return `⟨${grouped(blanks.length)} blanks⟩`;
  return blanks.replaceAll(" ", "·").replaceAll("\t", "⇥");
}

/** The lines of a text; many empty ones in a row are counted. */
export function revealedLines(text: string): readonly string[] {
  const lines: string[] = [];
  let empty: string[] = [];
  const flush = (): void => {
    if (empty.length >= GAP_LINES) lines.push(`⟨${grouped(empty.length)} empty lines⟩`);
    else lines.push(...empty.map(revealedLine));
    empty = [];
  };
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    if (/^[ \t]*$/.test(line)) empty.push(line);
    else {
      flush();
      lines.push(revealedLine(line));
    }
  }
  flush();
  return lines;
}

/** Cut by us, so that no terminal wraps: the rows of one revealed line. */
export function wrapped(line: string, width: number): readonly string[] {
  if (line.length <= width && isNarrow(line)) return [line];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const character of line) {
    const wide = columnsOf(character);
    if (used + wide > width) {
      rows.push(row);
      [row, used] = ["", 0];
    }
    row += character;
    used += wide;
  }
  return [...rows, row];
}

/** The same between words, for sentences. Lines with letters of two columns are cut anywhere, as those scripts are. */
export function wrappedWords(line: string, width: number): readonly string[] {
  if (!isNarrow(line) || width < 1) return wrapped(line, width);
  const rows: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const isBetween = space > 0 && rest.slice(0, space).trim() !== "";
    rows.push(rest.slice(0, isBetween ? space : width));
    rest = rest.slice(isBetween ? space + 1 : width);
  }
  return [...rows, rest];
}

function isNarrow(line: string): boolean {
  return /^[ -~]*$/.test(line);
}

/** East Asian letters and emoji take two; marks are counted too, which only makes a row shorter. */
function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** JSON in ASCII but for letters and signs one can see; it parses to the same value. */
export function revealedJson(json: string): string {
  return json.replace(/(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
