/** Finds rules that are legal but hardly intended. Pure. */
import { warnOnConsole } from "../console-line.ts";
import { showPath } from "../paths.ts";
import type { PathPattern } from "./patterns.ts";
import { checkPermissions, type PermissionList, type Rule, type Rules } from "./rules.ts";

export interface PermissionWarning {
  readonly code: "UNREACHABLE_RULE";
  /** Place of the rule in the list. */
  readonly index: number;
  /** The alternatives of its paths that never match. */
  readonly paths: readonly string[];
  readonly message: string;
}

/** Rules, or paths of rules, that never match because earlier rules take all of their paths. */
export function permissionWarnings(
  permissions: PermissionList | Rules | null | undefined,
): readonly PermissionWarning[] {
  const rules = checkPermissions(permissions);
  return rules.flatMap((rule, index) => {
    const dead = rule.patterns.filter((pattern) => isTaken(rule, pattern, rules.slice(0, index)));
    if (dead.length === 0) return [];
    const paths = dead.map(({ text }) => text);
    const shown = paths.map((path) => `'${showPath(path)}'`).join(", ");
    const which = dead.length === rule.patterns.length ? "can never match" : `can never match for ${shown}`;
    const message =
      `permissions[${index}] (${rule.mode}: ${shown}) ${which}: ` +
      "an earlier rule fits the same paths, and the first that fits decides. Put the narrower rule first.";
    return [{ code: "UNREACHABLE_RULE", index, paths, message }];
  });
}

const warned = new WeakSet<object>();

/** Written to the console, once for each list. */
export function warnAbout(rules: Rules): void {
  if (warned.has(rules)) return;
  warned.add(rules);
  for (const warning of permissionWarnings(rules)) warnOnConsole("permissions", warning);
}

function isTaken({ operations }: Rule, pattern: PathPattern, earlier: Rules): boolean {
  return [...operations].every((operation) =>
    earlier.some(
      (rule) =>
        rule.operations.has(operation) && rule.patterns.some((other) => coversPattern(other, pattern)),
    ),
  );
}

/** Does not find every case: patterns with wildcards are hard to compare. A path without any is taken as a file. */
function coversPattern(wider: PathPattern, narrower: PathPattern): boolean {
  if (wider.text === narrower.text) return true;
  if (narrower.isLiteral) return wider.matches(narrower.literal);
  return wider.coversBelow(narrower.literal);
}
