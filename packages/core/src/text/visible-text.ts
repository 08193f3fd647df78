/**
 * Text of a server for a model or a person, with invisible characters, and those that change how others look, spelled
 * out.
 */

/**
 * Controls but tab and newline, characters without width or with a direction, Unicode's own line ends, lone surrogates,
 * tags.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;
/** Joins the parts of one emoji, and selects its form. */
const HARMLESS = new Set(["\u200d", "\ufe0f"]);

export function visibleText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (character) => (HARMLESS.has(character) ? character : escaped(character)));
}

/** The same on one line of at most `most` characters. */
export function visibleLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = visibleText(text.slice(0, MOST_LOOKED_AT)).replace(/\s+/gu, " ").trim();
  const characters = line.length > most ? [...line] : [];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : line;
}

/** Whether `visibleText` would change it. */
export function hasHidden(text: string): boolean {
  return visibleText(text) !== text;
}

const MOST_LOOKED_AT = 20_000;

function escaped(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
