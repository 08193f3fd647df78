/**
 * Path patterns of permission rules. Stricter than a search: a pattern that would silently match nothing is an error.
 */
import { canonicalPath, isWithin, parentPath } from "../paths.ts";
import { expandBraces } from "../text/glob/glob-braces.ts";
import { compileGlob } from "../text/glob/glob-match.ts";
import { directoryFilter } from "../text/glob/glob-prune.ts";

/** One alternative of a pattern. Paths are canonical. */
export interface PathPattern {
  /** Without braces, empty and `.` segments. */
  readonly text: string;
  /** The directory it names before the first wildcard; of a pattern without any the path itself. */
  readonly literal: string;
  readonly isLiteral: boolean;
  matches(path: string): boolean;
  /** Whether it can match something that lies below `directory`. */
  mayMatchBelow(directory: string): boolean;
  /** Whether it matches everything below `directory`, with any name. */
  coversBelow(directory: string): boolean;
}

export type PatternProblem = { readonly problem: string };

const WILD = /[*?[\\]/;
const CONTROL = /\p{Cc}/u;
const EXTENDED = /[@!+*?]\(/;

/** The alternatives of `{a,b}`, or the mistake. */
export function pathPatterns(given: unknown): readonly PathPattern[] | PatternProblem {
  if (typeof given !== "string") return { problem: "is not text" };
  if (!given.startsWith("/")) return { problem: "must begin with '/'" };
  if (/\/~(?:\/|$)/.test(given)) return { problem: "has '~' in it, and no path has a home directory" };
  const pattern = given.normalize("NFC");
  if (CONTROL.test(pattern)) return { problem: "has a control character in it" };
  const unclosed = whyNotGlob(pattern);
  if (unclosed !== undefined) return { problem: unclosed };
  const refused = compileGlob(pattern);
  if (refused.error !== undefined) return { problem: `is refused: ${refused.error}` };
  const alternatives = (expandBraces(pattern) ?? []).map(patternOf);
  const bad = alternatives.find((alternative) => "problem" in alternative);
  return bad === undefined ? (alternatives as PathPattern[]) : (bad as PatternProblem);
}

/** A search takes an open bracket as a letter; a rule that does would protect nothing. */
function whyNotGlob(pattern: string): string | undefined {
  if (EXTENDED.test(pattern)) return "has a form of glob that is not known here, like +(a)";
  const groups: { commas: number }[] = [];
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index];
    if (character === "\\") {
      index += 1;
      if (index === pattern.length || pattern[index] === "/") return "has a backslash before nothing";
    } else if (character === "[") {
      const negated = pattern[index + 1] === "!" || pattern[index + 1] === "^";
      const close = pattern.indexOf("]", index + (negated ? 3 : 2));
      if (close === -1 || pattern.slice(index, close).includes("/")) return "has a '[' that is not closed";
      index = close;
    } else if (character === "{") groups.push({ commas: 0 });
    else if (character === "," && groups.length > 0) (groups.at(-1) as { commas: number }).commas += 1;
    else if (character === "}") {
      const group = groups.pop();
      if (group === undefined) return "has a '}' without its '{'";
      if (group.commas === 0) return "has braces without a comma: write \\{ for the character";
    }
  }
  return groups.length > 0 ? "has a '{' that is not closed" : undefined;
}

function patternOf(alternative: string): PathPattern | PatternProblem {
  if (!WILD.test(alternative)) {
    const { path, error } = canonicalPath(alternative);
    return error === undefined ? literalPattern(path) : { problem: `is refused: ${error}` };
  }
  const parts = partsOf(alternative);
  const text = `/${parts.join("/")}`;
  const glob = compileGlob(text);
  if (glob.error !== undefined) return { problem: `is refused: ${glob.error}` };
  const base = subtreeOf(parts);
  const canHold = directoryFilter(text);
  return {
    text,
    literal: literalStart(parts),
    isLiteral: false,
    matches: (path) => (path !== "/" && glob.matches(path)) || (base?.isIncluded === true && base.is(path)),
    mayMatchBelow: (directory) => canHold(directory === "/" ? "/" : `${directory}/`),
    coversBelow: (directory) => base !== undefined && upwards(directory).some(base.is),
  };
}

/** It is a file, or a directory with all that is in it: nothing lies below a file. */
export function literalPattern(path: string): PathPattern {
  return {
    text: path,
    literal: path,
    isLiteral: true,
    matches: (other) => isWithin(other, path),
    mayMatchBelow: (directory) => isWithin(directory, path) || isWithin(path, directory),
    coversBelow: (directory) => isWithin(directory, path),
  };
}

/** A slash at the end means all that lies below. */
function partsOf(alternative: string): string[] {
  const parts = alternative.split("/").filter((part) => part !== "" && part !== ".");
  if (alternative.endsWith("/")) parts.push("**");
  return parts.filter((part, index) => part !== "**" || parts[index - 1] !== "**");
}

interface Subtree {
  /** Whether a path is one whose tree the pattern covers. */
  readonly is: (path: string) => boolean;
  /** Whether the directory itself is covered with its tree. */
  readonly isIncluded: boolean;
}

function subtreeOf(parts: readonly string[]): Subtree | undefined {
  const isIncluded = parts.at(-1) === "**";
  const isBelow = parts.at(-1) === "*" && parts.at(-2) === "**";
  if (!isIncluded && !isBelow) return undefined;
  const base = parts.slice(0, isIncluded ? -1 : -2);
  if (base.length === 0) return { is: (path) => path === "/", isIncluded };
  const glob = compileGlob(`/${base.join("/")}`);
  return { is: (path) => path !== "/" && glob.matches?.(path) === true, isIncluded };
}

function literalStart(parts: readonly string[]): string {
  const wild = parts.findIndex((part) => WILD.test(part));
  return `/${parts.slice(0, wild).join("/")}`;
}

function upwards(directory: string): string[] {
  const list = [directory];
  for (let at = directory; at !== "/"; ) {
    at = parentPath(at);
    list.push(at);
  }
  return list;
}
