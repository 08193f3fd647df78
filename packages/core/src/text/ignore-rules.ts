/**
 * Files that `.gitignore` keeps out of a search, the same on every backend.
 *
 * Every `.gitignore` from the root of the backend down to the entry counts, the nearest one first, and in a file the
 * last matching line. An entry is judged by itself: the walk knows whether a directory above is ignored, and does not
 * enter one unless it starts there. `.git` is always ignored. Excludes of the machine or of `.git/info`, and
 * `.ignore` files, are not read.
 *
 * The shape of a line (negation, anchors, `**`, directories only) is judged here, because the library inherits from
 * parent directories, which a search that starts inside an ignored one must not. A single name with brackets, escapes
 * or several wildcards is left to the library.
 */
import ignore from "ignore";
import type { NameMatcher } from "./glob/glob-name.ts";
import { type Level, matchLevels } from "./match-levels.ts";

export const IGNORE_FILE = ".gitignore";

/** Bytes, or characters. A longer file has no rules. */
export const MAX_IGNORE_FILE_SIZE = 256 * 1024;
/** Further lines of a file do not count. */
const MAX_LINES = 10_000;

/** The rules of one file. */
export interface IgnoreRules {
  /**
   * Whether the entry `name` is ignored (true) or brought back (false); undefined where no line fits.
   * `path` is relative to the directory of the file and ends with `name`.
   */
  decide(path: string, name: string, isDirectory: boolean): boolean | undefined;
}

interface Rule {
  readonly index: number;
  readonly negative: boolean;
  readonly directoryOnly: boolean;
  /** Matcher for the name of the entry; absent: any. */
  readonly name?: NameMatcher;
  /** Matchers for the whole path, where the line has a slash before its end. */
  readonly levels?: readonly Level[];
}

const GLOBSTAR = /^\*{2,}$/;
const SPECIAL = /[*?[\\]/;
/** A name is remembered by the library; this often it forgets them all. */
const MAX_REMEMBERED_NAMES = 10_000;

export function parseIgnoreFile(text: string): IgnoreRules {
  const all = text.length > MAX_IGNORE_FILE_SIZE ? [] : text.replace(/^\uFEFF/, "").split("\n");
  const lines = all.slice(0, MAX_LINES);
  const exact = new Map<string, Rule[]>();
  const others: Rule[] = [];
  lines.forEach((line, index) => {
    const parsed = parseLine(line.endsWith("\r") ? line.slice(0, -1) : line, index);
    if (parsed === undefined) return;
    const { rule, literal } = parsed;
    const known = literal === undefined ? others : exact.get(literal);
    if (known !== undefined) known.push(rule);
    else if (literal !== undefined) exact.set(literal, [rule]);
  });
  return { decide: (path, name, isDirectory) => decide(exact, others, path, name, isDirectory) };
}

function decide(
  exact: ReadonlyMap<string, readonly Rule[]>,
  others: readonly Rule[],
  path: string,
  name: string,
  isDirectory: boolean,
): boolean | undefined {
  const found = exact.get(name)?.findLast((rule) => isDirectory || !rule.directoryOnly);
  let names: readonly string[] | undefined;
  for (let last = others.length - 1; last >= 0; last--) {
    const rule = others[last] as Rule;
    if (found !== undefined && rule.index < found.index) break;
    if ((rule.directoryOnly && !isDirectory) || rule.name?.(name) === false) continue;
    if (rule.levels !== undefined) {
      names ??= path.split("/");
      if (!matchLevels(rule.levels, names)) continue;
    }
    return !rule.negative;
  }
  return found === undefined ? undefined : !found.negative;
}

function parseLine(
  line: string,
  index: number,
): { readonly rule: Rule; readonly literal?: string } | undefined {
  if (line.startsWith("#")) return undefined;
  const trimmed = trimSpaces(line);
  const negative = trimmed.startsWith("!");
  let pattern = negative ? trimmed.slice(1) : trimmed;
  const directoryOnly = pattern.endsWith("/");
  if (directoryOnly) pattern = pattern.slice(0, -1);
  if (pattern === "") return undefined;
  const shape = { index, negative, directoryOnly };
  if (!pattern.includes("/")) {
    if (!SPECIAL.test(pattern)) return { rule: shape, literal: pattern };
    return { rule: { ...shape, name: nameMatcher(pattern) } };
  }
  const levels = levelsOf(pattern.startsWith("/") ? pattern.slice(1) : pattern);
  return { rule: { ...shape, name: levels.at(-1) as NameMatcher, levels } };
}

function levelsOf(pattern: string): Level[] {
  const levels: Level[] = [];
  for (const part of pattern.split("/")) {
    if (!GLOBSTAR.test(part)) levels.push(nameMatcher(part));
    else if (levels.at(-1) !== "**") levels.push("**");
  }
  if (levels.at(-1) === "**") levels.push(() => true);
  return levels;
}

function nameMatcher(part: string): NameMatcher {
  if (!SPECIAL.test(part)) return (name) => name === part;
  const star = part.indexOf("*");
  const rest = part.slice(star + 1);
  if (star === -1 || SPECIAL.test(part.slice(0, star)) || SPECIAL.test(rest)) return libraryMatcher(part);
  const start = part.slice(0, star);
  const shortest = part.length - 1;
  if (start === "") return (name) => name.endsWith(rest);
  return (name) => name.length >= shortest && name.startsWith(start) && name.endsWith(rest);
}

function libraryMatcher(part: string): NameMatcher {
  const compile = () => ignore({ ignorecase: false }).add(`/${part}`);
  let rules: ReturnType<typeof compile> | undefined;
  let asked = 0;
  return (name) => {
    if (asked++ % MAX_REMEMBERED_NAMES === 0) rules = undefined;
    rules ??= compile();
    return rules.ignores(name);
  };
}

/** Spaces at the end do not count unless a backslash stands before them. */
function trimSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === "\\") backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/** The rules in one directory: from its own file and from the files above. */
export class IgnoreScope {
  /** Where nothing but `.git` is ignored. */
  static readonly none = new IgnoreScope("", undefined, undefined);
  readonly #directory: string;
  readonly #rules: IgnoreRules | undefined;
  readonly #outer: IgnoreScope | undefined;

  private constructor(directory: string, rules: IgnoreRules | undefined, outer: IgnoreScope | undefined) {
    this.#directory = directory;
    this.#rules = rules;
    this.#outer = outer;
  }

  /** The scope inside `directory`, which ends with a slash; `rules` are from its file. */
  inside(directory: string, rules: IgnoreRules): IgnoreScope {
    return new IgnoreScope(directory, rules, this);
  }

  /** Whether there is any rule. */
  get isEmpty(): boolean {
    return this.#outer === undefined;
  }

  /** `path` ends with `name` and lies directly in the directory of this scope. */
  ignores(path: string, name: string, isDirectory: boolean): boolean {
    if (name === ".git") return true;
    for (let scope: IgnoreScope | undefined = this; scope !== undefined; scope = scope.#outer) {
      const decided = scope.#rules?.decide(path.slice(scope.#directory.length), name, isDirectory);
      if (decided !== undefined) return decided;
    }
    return false;
  }
}
