/** Permission rules: which paths may be read and written. Pure: no backend here. */
import { ConfigurationError } from "../errors.ts";
import { canonicalPath, showPath } from "../paths.ts";
import { type PathPattern, pathPatterns } from "./patterns.ts";

/** Read: ls, read_file, glob, grep. Write: write_file, edit_file, delete. */
export type FilesystemOperation = "read" | "write";

/** `interrupt`: a person has to agree to each call. */
export type PermissionMode = "allow" | "deny" | "interrupt";

/** The first rule that fits a path and an operation decides; where none fits, all is allowed. */
export interface FilesystemPermission {
  readonly operations: readonly FilesystemOperation[];
  /**
   * Globs from the root with `*` `**` `?` `[abc]` `{a,b}`. `/a/**` is `/a` with all below; so is `/a`, where it
   * is a directory.
   */
  readonly paths: readonly string[];
  /** Default `allow`. */
  readonly mode?: PermissionMode | null;
}

/** A rule in a plain constant, whose type TypeScript widens; its values are checked when the agent is built. */
interface WidenedPermission {
  readonly operations: readonly string[];
  readonly paths: readonly string[];
  readonly mode?: string | null;
}

export type PermissionList = readonly (FilesystemPermission | WidenedPermission)[];

export interface Rule {
  readonly permission: FilesystemPermission;
  readonly index: number;
  readonly operations: ReadonlySet<FilesystemOperation>;
  readonly mode: PermissionMode;
  readonly patterns: readonly PathPattern[];
}

/** Checked rules, in the order they are asked. */
export type Rules = readonly Rule[];

export interface PermissionExplanation {
  readonly mode: PermissionMode;
  /** The deciding rule in its original form, with its index in the list; absent: none matches. */
  readonly rule?: FilesystemPermission;
  readonly index?: number;
  readonly reason: string;
}

const OPERATIONS: ReadonlySet<unknown> = new Set(["read", "write"]);
const MODES: ReadonlySet<unknown> = new Set(["allow", "deny", "interrupt"]);
const KEYS: ReadonlySet<string> = new Set(["operations", "paths", "mode"]);

const checked = new WeakSet<object>();

/** Throws INVALID_PERMISSION for a contradictory rule. Checked rules are returned unchanged. */
export function checkPermissions(given: unknown, option = "permissions"): Rules {
  if (given === undefined || given === null) return [];
  if (typeof given === "object" && checked.has(given)) return given as Rules;
  if (!Array.isArray(given))
    throw new ConfigurationError("INVALID_PERMISSION", `The option '${option}' must be a list of rules.`, {
      hint: EXAMPLE,
    });
  const rules = given.map((rule, index) => checkedRule(rule, index, option));
  checked.add(rules);
  return rules;
}

const EXAMPLE = 'A rule is like {operations: ["write"], paths: ["/secrets/**"], mode: "deny"}.';

function checkedRule(given: unknown, index: number, option: string): Rule {
  const place = `${option}[${index}]`;
  const fail = (problem: string): never => {
    throw new ConfigurationError("INVALID_PERMISSION", `${place} ${problem}.`, { hint: EXAMPLE });
  };
  if (typeof given !== "object" || given === null || Array.isArray(given)) return fail("is not a rule");
  const { operations, paths, mode } = given as Record<string, unknown>;
  const unknown = Object.keys(given).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return fail(`has an unknown key '${unknown}'`);
  if (!Array.isArray(operations) || operations.length === 0)
    return fail("must list its operations, 'read' or 'write'");
  const stranger = operations.find((operation) => !OPERATIONS.has(operation));
  if (stranger !== undefined) return fail(`has an unknown operation '${String(stranger)}'`);
  if (mode !== undefined && mode !== null && !MODES.has(mode))
    return fail(`has an unknown mode '${String(mode)}'; there are allow, deny and interrupt`);
  if (!Array.isArray(paths) || paths.length === 0) return fail("must list its paths");
  const patterns = paths.flatMap((path) => {
    const read = pathPatterns(path);
    return "problem" in read ? fail(`has a path '${showPath(String(path))}' that ${read.problem}`) : read;
  });
  const permission = { operations: [...operations], paths: [...paths], ...(mode != null && { mode }) };
  return {
    permission: permission as FilesystemPermission,
    index,
    operations: new Set(operations),
    mode: (mode as PermissionMode | null | undefined) ?? "allow",
    patterns,
  };
}

/** The first rule that fits; undefined: allowed. */
export function firstRule(rules: Rules, path: string, operation: FilesystemOperation): Rule | undefined {
  return rules.find(
    (rule) => rule.operations.has(operation) && rule.patterns.some((pattern) => pattern.matches(path)),
  );
}

/** Whether something below the directory may be other than allowed. */
export function mayRefuseBelow(rules: Rules, directory: string, operation: FilesystemOperation): boolean {
  return rules.some(
    (rule) =>
      rule.mode !== "allow" &&
      rule.operations.has(operation) &&
      rule.patterns.some((pattern) => pattern.mayMatchBelow(directory)),
  );
}

/** Whether something below the directory may be allowed, though the directory itself is not. */
export function mayAllowBelow(rules: Rules, directory: string, operation: FilesystemOperation): boolean {
  for (const { mode, operations, patterns } of rules) {
    if (!operations.has(operation)) continue;
    if (mode === "allow" && patterns.some((pattern) => pattern.mayMatchBelow(directory))) return true;
    if (mode !== "allow" && patterns.some((pattern) => pattern.coversBelow(directory))) return false;
  }
  return true;
}

export function refuses(rules: Rules, operation: FilesystemOperation): boolean {
  return rules.some((rule) => rule.mode !== "allow" && rule.operations.has(operation));
}

/** Decision of the rules about a path, and the rule that decides. The path is taken from the root. */
export function explainPermission(
  permissions: PermissionList | Rules | null | undefined,
  path: string,
  operation: FilesystemOperation,
): PermissionExplanation {
  const rules = checkPermissions(permissions);
  if (!OPERATIONS.has(operation))
    throw new ConfigurationError("INVALID_OPTION", `There is no operation '${String(operation)}'.`, {
      hint: "The operations are read and write.",
    });
  const canonical = canonicalPath(path);
  if (canonical.error !== undefined)
    return { mode: "deny", reason: `No file has such a path: ${canonical.error}.` };
  const rule = firstRule(rules, canonical.path, operation);
  const what = `${operation} on ${showPath(canonical.path)}`;
  if (rule === undefined) return { mode: "allow", reason: `No rule fits ${what}, so it is allowed.` };
  const { mode, permission, index } = rule;
  const shown = permission.paths.map((pattern) => `'${showPath(pattern)}'`).join(", ");
  const reason = `Rule ${index + 1} of ${rules.length} (${mode}: ${shown}) is the first that fits ${what}.`;
  const isWay = mode === "deny" && operation === "read" && mayAllowBelow(rules, canonical.path, "read");
  const more = isWay ? " A listing or search from there shows what below it is allowed." : "";
  return { mode, rule: permission, index, reason: reason + more };
}
