/**
 * Builds the command that runs a constant script in the sandbox, and finds the answer in its output.
 *
 * A value reaches a script as an argument spelled with letters, digits, `_`, `.`, `/`, `-` and `\0ooo` only. No shell
 * gives these a meaning between single quotes; the script decodes them with `printf %b`. The answer stands between two
 * lines with a random number of this call, in base64 or hexadecimal. Banners and warnings cannot be taken for it, and an
 * answer that a provider cut lacks its last line.
 */

/** The printed answer, or the directory in the sandbox that holds it because it is long. */
export type Answer =
  | { readonly kind: "data"; readonly bytes: Buffer }
  | { readonly kind: "file"; readonly directory: string }
  /** `begun`: the first line is there, the last is not. */
  | { readonly kind: "none"; readonly begun: boolean };

/** Text is passed as UTF-8. */
export type Value = string | number | Uint8Array;

const MARK = "dw";
const HARMLESS = /^[\w./-]$/;
const SPELLINGS = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return HARMLESS.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
});

/** `script` is our own code; `values` may be anything without a NUL. */
export function commandOf(script: string, call: string, values: readonly Value[]): string {
  const words = [call, ...values.map(encodeValue)].map((word) => `'${word}'`);
  return `LC_ALL=C sh -c '${script.replaceAll("'", "'\\''")}' ${MARK} ${words.join(" ")} </dev/null`;
}

/** Spells every byte that is not harmless as `\0` and three octal digits. */
export function encodeValue(value: Value): string {
  let encoded = "";
  for (const byte of typeof value === "object" ? value : Buffer.from(String(value), "utf8"))
    encoded += SPELLINGS[byte];
  return encoded;
}

export function answerIn(output: string, call: string): Answer {
  const start = new RegExp(`${MARK}:${call}:(64|16):(data|file)\\r?\\n`).exec(output);
  if (start === null) return { kind: "none", begun: false };
  const from = start.index + start[0].length;
  const end = output.indexOf(`${MARK}:${call}:end`, from);
  const digits = end === -1 ? undefined : output.slice(from, end).replace(/\s+/g, "");
  const bytes = digits === undefined ? undefined : decodeDigits(digits, start[1] as string);
  if (bytes === undefined) return { kind: "none", begun: true };
  if (start[2] === "data") return { kind: "data", bytes };
  return { kind: "file", directory: bytes.toString("utf8") };
}

/** Undefined when something was left out of the middle. */
function decodeDigits(digits: string, base: string): Buffer | undefined {
  if (base === "16") return /^(?:[0-9a-f]{2})*$/.test(digits) ? Buffer.from(digits, "hex") : undefined;
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return undefined;
  return Buffer.from(digits, "base64");
}
