/** Detects the kind of stdin. */
import { fstatSync } from "node:fs";

/** A pipe, a file or a socket (what Node gives its children); not a keyboard, /dev/null or nothing at all. */
export function stdinCarries(descriptor = 0): boolean {
  try {
    const kind = fstatSync(descriptor);
    return kind.isFIFO() || kind.isFile() || kind.isSocket();
  } catch {
    return false;
  }
}
