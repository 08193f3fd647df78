/**
 * The one sanitiser for text of models, tools and files on its way to a terminal: control bytes and
 * characters that reorder text become visible escapes, so that output stays data.
 */

/** Every control character but tab and newline, direction controls, and Unicode's own line breaks. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const UNSAFE_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;
const NAMED: Readonly<Record<string, string>> = { "\r": "\\r", "\b": "\\b" };

/** Keeps tabs and line breaks; `\r\n` becomes `\n`. */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE, (character) => NAMED[character] ?? escaped(character));
}

/** The same on a single line: what breaks lines becomes a space; cut at `width` characters. */
export function safeLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = safeText(text.slice(0, MAX_LOOKED_AT)).replace(/\s+/gu, " ").trim();
  const characters = line.length > width ? [...line] : [];
  return characters.length > width ? `${characters.slice(0, Math.max(width - 1, 0)).join("")}…` : line;
}

/** A line on a screen never needs more of a long text than this. */
const MAX_LOOKED_AT = 20_000;

/** JSON text without raw control or direction characters; it still parses to the same value. */
export function safeJson(json: string): string {
  return json.replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
}

/** Sanitises text that arrives in pieces: a `\r` at the end of one waits for the next. */
export class SafeStream {
  private held = "";

  push(piece: string): string {
    const text = this.held + piece;
    this.held = text.endsWith("\r") ? "\r" : "";
    return safeText(this.held === "" ? text : text.slice(0, -1));
  }

  /** The text held back so far. */
  end(): string {
    const rest = safeText(this.held);
    this.held = "";
    return rest;
  }
}
