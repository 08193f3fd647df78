/** Text as a person must see it before agreeing to it: characters that hide, or move others, are written out. */

const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** So many blanks in a row push what follows out of sight. */
const BLANKS = /[ \t]{24,}/g;
const EMPTY_LINES = /\n(?:[ \t]*\n){4,}/g;

export function revealed(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(EMPTY_LINES, (lines) => `\n⟨${lines.split("\n").length - 2} empty lines⟩\n`)
    .replace(BLANKS, (blanks) => `⟨${blanks.length} blanks⟩`)
    .replace(HIDDEN, escaped);
}

/** The same for single characters alone: blanks and empty lines stay as they are. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\u{${code.toString(16)}}`;
}
