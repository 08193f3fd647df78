/** Bytes of output as text, without characters that a cut went through. */

const UTF_8 = ["utf-8", { ignoreBOM: true }] as const;
const decoder = new TextDecoder(...UTF_8);
const LONGEST_CHARACTER = 4;

/** Bytes that are no UTF-8 become U+FFFD. */
export function wholeOutput(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The start and the end of an output with an unknown middle. */
export function cutOutput(head: Uint8Array, tail: Uint8Array): string {
  // A stream holds back a character that is not complete.
  const first = new TextDecoder(...UTF_8).decode(head, { stream: true });
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && isContinuation(tail[start])) start += 1;
  const last = decoder.decode(tail.subarray(start));
  return `${first}\n[… output left out …]\n${last}`;
}

/** At most `maxBytes` of a text that came whole. */
export function boundOutput(
  text: string,
  maxBytes: number,
): { readonly output: string; readonly truncated: boolean } {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return { output: text, truncated: false };
  const half = Math.floor(maxBytes / 2);
  return { output: cutOutput(bytes.subarray(0, half), bytes.subarray(bytes.length - half)), truncated: true };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
