/**
 * Globs over canonical paths: `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}` and `\` before a special character.
 *
 * Not compiled to a regular expression: `*a*a*a*a*a*a*a*a*b` on forty characters costs a backtracking engine seconds.
 * Here a wildcard only ever goes back to the last star, so a match always takes at most the length of the pattern times
 * the length of the path. Names that begin with a dot are names like any other.
 */

import { type Level, matchLevels } from "../match-levels.ts";
import { expandBraces, MAX_ALTERNATIVES } from "./glob-braces.ts";
import { compileName } from "./glob-name.ts";

export type GlobError = {
  readonly error: string;
  readonly code: "INVALID_PATTERN" | "INVALID_PATH";
  readonly matches?: undefined;
};

export type Glob =
  | {
      /** Whether the canonical path of a file fits. Paths outside the base never do. */
      readonly matches: (path: string) => boolean;
      readonly error?: undefined;
    }
  | GlobError;

const MAX_PATTERN_LENGTH = 1000;

/**
 * A matcher for one query. The pattern is relative to `base`. A pattern without a slash matches a name at any depth
 * below it. One that begins with a slash is relative to the root, but still finds only paths in `base`.
 */
export function compileGlob(pattern: string, base = "/"): Glob {
  if (pattern === "") return invalid("Pattern is empty");
  if (pattern.length > MAX_PATTERN_LENGTH)
    return invalid(`Pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined)
    return invalid(`Pattern has more than ${MAX_ALTERNATIVES} alternatives: ${pattern}`);
  if (alternatives.some((alternative) => leavesBase(alternative)))
    return { error: `Path traversal not allowed: ${pattern}`, code: "INVALID_PATH" };
  const directory = base === "/" ? "/" : `${base}/`;
  const matchers = alternatives.map((alternative) => compileAlternative(alternative, directory.length));
  return {
    matches: (path) => path.startsWith(directory) && matchers.some((matcher) => matcher(path)),
  };
}

function compileAlternative(pattern: string, baseLength: number): (path: string) => boolean {
  const from = pattern.startsWith("/") ? 1 : baseLength;
  const levels = levelsOf(pattern);
  if (levels.length === 0) return () => false;
  const [first, second] = levels;
  if (first === "**" && levels.length === 2 && typeof second === "function")
    return (path) => second(path.slice(Math.max(path.lastIndexOf("/") + 1, from)));
  return (path) => matchLevels(levels, path.slice(from).split("/"));
}

function levelsOf(pattern: string): Level[] {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  const levels: Level[] = [];
  if (!pattern.includes("/")) levels.push("**");
  for (const part of parts) {
    if (part !== "**") levels.push(compileName(part));
    else if (levels.at(-1) !== "**") levels.push("**");
  }
  const anything = pattern.endsWith("/") && levels.length > 0 && levels.at(-1) !== "**";
  if (anything) levels.push("**");
  if (levels.at(-1) === "**") levels.push(compileName("*"));
  return levels;
}

function leavesBase(pattern: string): boolean {
  return pattern.startsWith("~") || pattern.split(/[\\/]/).includes("..");
}

function invalid(error: string): GlobError {
  return { error, code: "INVALID_PATTERN" };
}
