/** Matching the levels of a path pattern: names, and `**` for any number of them. */
import type { NameMatcher } from "./glob/glob-name.ts";

/** A directory level: a name to match, or any number of them. */
export type Level = NameMatcher | "**";

/** On a mismatch only the last `**` takes one more name: earlier ones never need to change. */
export function matchLevels(levels: readonly Level[], names: readonly string[]): boolean {
  let level = 0;
  let name = 0;
  let retryLevel = -1;
  let retryName = 0;
  while (name < names.length || level < levels.length) {
    const current = levels[level];
    if (current === "**") {
      level += 1;
      retryLevel = level;
      retryName = name;
    } else if (current !== undefined && name < names.length && current(names[name] as string)) {
      level += 1;
      name += 1;
    } else if (retryLevel !== -1 && retryName < names.length) {
      retryName += 1;
      name = retryName;
      level = retryLevel;
    } else return false;
  }
  return true;
}
