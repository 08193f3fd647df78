/** Bytes of output as text, without characters that a cut went through. */

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const LONGEST_CHARACTER = 4;

/** Bytes that are no UTF-8 become U+FFFD. */
export function wholeOutput(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The beginning and the end of an output whose middle is not known. */
export function cutOutput(head: Uint8Array, tail: Uint8Array): string {
  const first = decoder.decode(head.subarray(0, wholeEnd(head)));
  const last = decoder.decode(tail.subarray(wholeStart(tail)));
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

/** The length of `bytes` without a character that is cut off at its end. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST_CHARACTER && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first character of `bytes` begins that is not cut off at its start. */
function wholeStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && start < bytes.length && isContinuation(bytes[start] as number))
    start += 1;
  return start;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthOf(firstByte: number): number {
  return firstByte >= 0xf0 ? 4 : firstByte >= 0xe0 ? 3 : firstByte >= 0xc0 ? 2 : 1;
}
