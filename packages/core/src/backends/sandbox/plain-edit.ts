/** Edits that a shell can do where the file lies, because nothing has to be known about its encoding. */
import { normalizeLineEnds } from "../../text/lines.ts";
import { encodeValue } from "./command.ts";

export interface PlainEdit {
  /** The old text, with `\x01` for its line ends. */
  readonly needle: string;
  readonly replacement: Buffer;
  readonly hasLines: boolean;
}

/** Characters of the old text as it is spelled in a command, where the new one has to fit in too. */
const MAX_NEEDLE = 16 * 1024;
/** Control characters but the tab and line end, and the private ones that stand for bytes astray. */
const ODD = /[^\P{Cc}\t\n]|[\u{100000}-\u{10ffff}]/u;

/** Undefined where there is more to think about, also about the words of an error. */
export function plainEdit(oldString: string, newString: string): PlainEdit | undefined {
  const old = normalizeLineEnds(oldString);
  if (old === "" || old.length > MAX_NEEDLE || old === normalizeLineEnds(newString)) return undefined;
  if (!old.isWellFormed() || !newString.isWellFormed()) return undefined;
  if (old.startsWith("\ufeff") || ODD.test(old) || ODD.test(newString)) return undefined;
  const hasLines = old.includes("\n") || newString.includes("\n");
  const needle = old.replaceAll("\n", "\x01");
  if (encodeValue(needle).length > MAX_NEEDLE) return undefined;
  return { needle, replacement: Buffer.from(newString), hasLines };
}
