/** Two texts compared line by line, as patches show it. Pure. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

export interface LineChanges {
  /** A unified diff with a header; `""` for equal texts. */
  readonly patch: string;
  /** Lines with words that are gone, whatever their order. A moved line does not count. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** `undefined` is a file that is not there. */
export function lineChanges(
  path: string,
  before: string | undefined,
  after: string | undefined,
): LineChanges {
  const [old, now] = [linesOf(before ?? ""), linesOf(after ?? "")];
  if (before === after) return { patch: "", removed: [], added: [] };
  const from = before === undefined ? "/dev/null" : `a${path}`;
  const to = after === undefined ? "/dev/null" : `b${path}`;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return {
    patch: createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, options),
    removed: missingFrom(now, old),
    added: missingFrom(old, now),
  };
}

/** How many lines have words in them. */
export function countLines(text: string): number {
  return linesOf(text).filter((line) => line.trim() !== "").length;
}

/** With their line ends, so that a last line without one differs. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function missingFrom(present: readonly string[], wanted: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of present) left.set(line.trim(), (left.get(line.trim()) ?? 0) + 1);
  return wanted
    .map((line) => line.trim())
    .filter((line) => {
      const found = left.get(line) ?? 0;
      if (found > 0) left.set(line, found - 1);
      return line !== "" && found === 0;
    });
}
