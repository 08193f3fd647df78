/** How rules can be kept for commands too: by closing paths for each of them. Pure. */
import type { ClosedPaths } from "../backends/backend.ts";
import { isWithin, showPath } from "../paths.ts";
import type { PathPattern } from "./patterns.ts";
import type { Rule, Rules } from "./rules.ts";

/** Why a rule cannot be kept. */
export interface UnkeptRule {
  readonly problem: string;
}

/**
 * Paths that are closed so that no command does what the rules forbid. Only a path below `base` can be closed: a
 * file, or a directory with all its content. `reaches` says which patterns are about files that commands can reach.
 */
export function closedPaths(
  rules: Rules,
  base: string,
  reaches: (pattern: PathPattern) => boolean,
): ClosedPaths | UnkeptRule {
  const hidden: string[] = [];
  const readOnly: string[] = [];
  for (const rule of rules) {
    const patterns = rule.mode === "allow" ? [] : rule.patterns.filter(reaches);
    for (const pattern of patterns) {
      const why = whyNot(rule, pattern, base, rules);
      if (why !== undefined) return { problem: problemOf(rule, pattern, why) };
      (rule.operations.has("read") ? hidden : readOnly).push(pattern.literal);
    }
  }
  return { hidden, readOnly };
}

function whyNot(rule: Rule, pattern: PathPattern, base: string, rules: Rules): string | undefined {
  const { literal, isLiteral, text } = pattern;
  if (rule.mode === "interrupt") return "a command cannot wait for a person";
  if (!isLiteral && text !== (literal === "/" ? "/**" : `${literal}/**`))
    return "only a path, or a directory followed by '/**', can be closed";
  if (literal === base || !isWithin(literal, base))
    return `only what lies below '${showPath(base)}' can be closed`;
  const exception = rules.slice(0, rule.index).find(({ mode, operations, patterns }) => {
    const isSame = [...rule.operations].some((operation) => operations.has(operation));
    return (
      mode === "allow" &&
      isSame &&
      patterns.some((other) => other.matches(literal) || other.mayMatchBelow(literal))
    );
  });
  return exception && `permissions[${exception.index}] allows something in it`;
}

function problemOf({ index, mode }: Rule, { text }: PathPattern, why: string): string {
  return `permissions[${index}] (${mode}: '${showPath(text)}') cannot be kept for commands: ${why}.`;
}
