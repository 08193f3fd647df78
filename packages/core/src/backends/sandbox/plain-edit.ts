/** Edits that a shell can do where the file lies, because nothing has to be known about its encoding. */
import { normalizeLineEnds } from "../../text/lines.ts";

export interface PlainEdit {
  /** The old text, with `\x01` for its line ends. */
  readonly needle: string;
  readonly replacement: Buffer;
  readonly hasLines: boolean;
}

/** Characters of the old text: it is a variable of the script's environment. */
const MAX_NEEDLE = 8192;
/** Control characters but the tab and line end, and the private ones that stand for bytes astray. */
const ODD = /[^\P{Cc}\t\n]|[\u{100000}-\u{10ffff}]/u;

/** Undefined where there is more to think about, also about the words of an error. */
export function plainEdit(oldString: string, newString: string): PlainEdit | undefined {
  const old = normalizeLineEnds(oldString);
  if (old === "" || old === normalizeLineEnds(newString) || old.length > MAX_NEEDLE) return undefined;
  if (!old.isWellFormed() || !newString.isWellFormed()) return undefined;
  if (old.startsWith("\ufeff") || ODD.test(old) || ODD.test(newString)) return undefined;
  const hasLines = old.includes("\n") || newString.includes("\n");
  return { needle: old.replaceAll("\n", "\x01"), replacement: Buffer.from(newString), hasLines };
}
