/** Detects the kind of stdin. */
import { fstatSync } from "node:fs";

/** True for a pipe, a file or a socket (Node's children get one); false for a terminal, /dev/null or a closed stdin. */
export function stdinCarries(descriptor = 0): boolean {
  try {
    const kind = fstatSync(descriptor);
    return kind.isFIFO() || kind.isFile() || kind.isSocket();
  } catch {
    return false;
  }
}
