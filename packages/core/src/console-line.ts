/**
 * Writes warnings and errors to the console where the caller gave no function for them. It is the only place that does:
 * the text may hold names of files, servers and tools, so characters that steer a terminal become visible escapes.
 */
export { hasHidden, visibleLine, visibleText } from "./text/visible-text.ts";

/** Every control character but tab and newline, direction controls, and Unicode's own line breaks. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** `source` is the part of the harness that warns. */
export function warnOnConsole(
  source: string,
  { code, message }: { readonly code: string; readonly message: string },
): void {
  console.warn(terminalText(`[${source}] ${message} (${code})`));
}

export function errorOnConsole(text: string): void {
  console.error(terminalText(text));
}

function terminalText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
