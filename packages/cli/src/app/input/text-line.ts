/** Where a text stands in a file of the directory. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const MOST_BYTES = 2_000_000;

/** The line, from 1; undefined: the file is large, not there, or without the text. `path` is as the agent sees it. */
export function lineOfText(directory: string, path: string, text: string): number | undefined {
  try {
    const file = join(directory, path);
    const found = statSync(file);
    if (!file.startsWith(`${directory}/`) || !found.isFile() || found.size > MOST_BYTES) return undefined;
    const content = readFileSync(file, "utf8");
    const index = content.indexOf(text);
    return index === -1 ? undefined : content.slice(0, index).split("\n").length;
  } catch {
    return undefined;
  }
}
