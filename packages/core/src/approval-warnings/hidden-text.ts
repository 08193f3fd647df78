/** Where text stops being what it looks like. */

/** So many blanks in a row push what follows out of sight. */
export const GAP = 24;
/** So many empty lines do the same. */
export const GAP_LINES = 4;

/** A character written out. */
export function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === "\r") return "\\r";
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Controls, direction and format characters, odd spaces, fillers, private and unassigned code points, lone surrogates. */
export const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
