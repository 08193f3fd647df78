/** The patterns of a .gitignore file, as far as finding files needs them. Pure. */

export interface IgnoreRule {
  readonly pattern: RegExp;
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
}

/** `base` is the directory of the file, relative to the root, with a slash at its end; empty for the root. */
export function ignoreRules(text: string, base: string): readonly IgnoreRule[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(?<!\\) +$/, ""))
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ruleOf(line, base));
}

function ruleOf(line: string, base: string): IgnoreRule {
  const isNegated = line.startsWith("!");
  const isForDirectories = line.endsWith("/");
  const body = line.slice(isNegated ? 1 : 0, isForDirectories ? -1 : undefined).replace(/^\\(?=[#!])/, "");
  const isAnchored = body.includes("/");
  const glob = body
    .replace(/^\//, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\/\*\*$|\*\*|\*|\?/g, (part) => GLOBS[part] ?? part);
  return {
    pattern: new RegExp(`^${escaped(base)}${isAnchored ? "" : "(?:.*/)?"}${glob}$`),
    isNegated,
    isForDirectories,
  };
}

const GLOBS: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "/**": "/.*",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The last rule that matches decides. */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly IgnoreRule[]): boolean {
  const rule = rules.findLast(
    ({ pattern, isForDirectories }) => (isDirectory || !isForDirectories) && pattern.test(path),
  );
  return rule !== undefined && !rule.isNegated;
}
