/** Files with names that a vendor's transfer may not survive: they are moved by a command, under a plain name. */

/** Whether every service can be trusted with the path: no blank, quote, line end or character beyond ASCII. */
export function isPlainPath(path: string): boolean {
  return /^[\w./@+-]+$/.test(path);
}

/** The line that prints the bytes of a file in base64 behind `ok`; nothing when it cannot be read. */
export function readLine(path: string): string {
  return lineOf(
    `p=$(printf %s "$1" | base64 -d; echo .); p=\${p%.}; [ -f "$p" ] && [ -r "$p" ] && echo ok && base64 <"$p" | tr -d "\\\\n"`,
    [encode(path)],
  );
}

/** Undefined when it could not be read. */
export function bytesOf(output: string): Uint8Array | undefined {
  const found = /(?:^|\n)ok\r?\n([A-Za-z0-9+/=]*)/.exec(output);
  return found === null ? undefined : new Uint8Array(Buffer.from(found[1] as string, "base64"));
}

/** The line that puts the content of a plain path into a file, removes the first, and prints `ok` when it could. */
export function moveLine(from: string, to: string): string {
  return lineOf(
    `p=$(printf %s "$2" | base64 -d; echo .); p=\${p%.}; [ -d "$p" ] || { [ -e "$p" ] && [ ! -f "$p" ]; } || { cat <"$1" >"$p" && echo ok; }; rm -f "$1"`,
    [from, encode(to)],
  );
}

function lineOf(script: string, words: readonly string[]): string {
  return `sh -c '${script}' dw ${words.join(" ")}`;
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
