/** Directories in which a glob can find something. */
import { expandBraces } from "./glob-braces.ts";
import { compileName, type NameMatcher } from "./glob-name.ts";

/**
 * Whether files that fit `pattern` below `base` can lie in a directory, given as a canonical path with a
 * slash at its end. A pattern that `compileGlob` refuses lets every directory in.
 */
export function directoryFilter(pattern: string, base = "/"): (directory: string) => boolean {
  const filters = expandBraces(pattern)?.map((alternative) => alternativeFilter(alternative, base)) ?? [];
  if (filters.length === 0) return () => true;
  return (directory) => filters.some((filter) => filter(directory));
}

function alternativeFilter(pattern: string, base: string): (directory: string) => boolean {
  if (!pattern.includes("/")) return () => true;
  const start = pattern.startsWith("/") || base === "/" ? 1 : base.length + 1;
  const parts = partsOf(pattern);
  const open = parts.indexOf("**");
  const levels = (open === -1 ? parts : parts.slice(0, open)).map(compileName);
  if (open === -1) levels.pop();
  return (directory) => canHold(levels, open !== -1, directory.slice(start, -1));
}

function canHold(levels: readonly NameMatcher[], open: boolean, directory: string): boolean {
  if (directory === "") return true;
  const names = directory.split("/");
  if (names.length > levels.length && !open) return false;
  return names.every((name, index) => levels[index]?.(name) ?? true);
}

/** The directories a pattern names without wildcards, as a canonical path: where its search begins. */
export function literalDirectory(pattern: string, base = "/"): string {
  const from = pattern.startsWith("/") || base === "/" ? "" : base;
  const parts = pattern.includes("/") && !/[{\\]/.test(pattern) ? partsOf(pattern).slice(0, -1) : [];
  const wild = parts.findIndex((part) => /[*?[]/.test(part));
  const names = wild === -1 ? parts : parts.slice(0, wild);
  return `${from}/${names.join("/")}`.replace(/(?<=.)\/$/, "");
}

/** As `compileGlob` reads it: a slash at the end means all that lies below. */
function partsOf(pattern: string): string[] {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  return pattern.endsWith("/") ? [...parts, "**"] : parts;
}
