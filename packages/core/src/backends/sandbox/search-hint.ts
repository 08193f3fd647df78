/** Search text for a sandbox: enough to find every file that may hold a pattern, in any encoding. */
import type { Encoding } from "../disk/encoding/detect-encoding.ts";
import { encodeText } from "../disk/encoding/text-codec.ts";

/** Characters of the pattern that count. */
const MAX_CHARACTERS = 64;

/** Encodings in which a character outside ASCII has bytes of its own. UTF-16 is known by its mark. */
const ENCODINGS =
  "utf-8 windows-1252 gb18030 big5 shift_jis euc-jp euc-kr windows-1251 koi8-r iso-8859-7".split(
    " ",
  ) as readonly Encoding[];

const UTF_16_MARKS = ["^\xff\xfe", "^\xfe\xff"];

/**
 * Basic regular expressions over bytes, one a line: the longest part of the pattern that stands on one line, in each
 * encoding, and the marks of UTF-16. Empty where every file has to be looked at.
 */
export function searchHint(pattern: string): Buffer {
  const parts = pattern.split(/[\r\n\0]/);
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one));
  const part = Array.from(longest).slice(0, MAX_CHARACTERS).join("");
  if (part === "" || !part.isWellFormed()) return Buffer.alloc(0);
  const spellings = new Set<string>();
  for (const encoding of /^\p{ASCII}*$/u.test(part) ? ENCODINGS.slice(0, 1) : ENCODINGS) {
    const encoded = encodeText(part, encoding, false);
    if (encoded.error === undefined) spellings.add(asExpression(encoded.bytes.toString("latin1")));
  }
  return Buffer.from([...spellings, ...UTF_16_MARKS].join("\n"), "latin1");
}

/** `text` has one character for each byte. */
function asExpression(text: string): string {
  return text.replace(/[.[*^$\\]/g, "\\$&");
}
