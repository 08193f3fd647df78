/** Rules about commands: their form, and the check that one is sound. */
import { ConfigurationError } from "deepwright";
import { type OptionShape, optionShape } from "./option-shape.ts";
import { runsOtherPrograms } from "./other-programs.ts";

export type CommandDecision = "allow" | "ask" | "deny";

/** Example commands of a rule. They are checked when the rule is loaded. */
export interface RuleExamples {
  /** At least one; the rule must match each of them. */
  readonly match: readonly string[];
  /** At least one; the rule must match none of them. */
  readonly notMatch: readonly string[];
}

/** Lets commands run without a question. It matches one plain command with nothing but the parts named here. */
export interface AllowRule {
  readonly decision: "allow";
  /** The program, without a path, and the words that must follow it at once: `git log`. */
  readonly command: string;
  /**
   * Options that may follow: `-l`, `--stat`; with a value `-n <number>`, `--format=<text>`, `--file=<path>`; with one
   * that may be left out `--stat[=<text>]`; `-<number>` for `-5`. Absent: none.
   */
  readonly options?: readonly string[];
  /**
   * Arguments that may follow beside options. `paths` are relative and do not climb; `text` is anything that does not begin
   * with `-`. Absent: nothing.
   */
  readonly operands?: Operands;
  readonly examples: RuleExamples;
}

/** Asks about commands, or refuses them, that name the program at any depth: in lists, pipes, substitutions. */
export interface StrictRule {
  readonly decision: "ask" | "deny";
  /** The program, by any path, and the words that must follow it at once. */
  readonly command: string;
  /** Why, one sentence; the person or the model reads it. */
  readonly reason?: string;
  readonly examples: RuleExamples;
}

export type CommandRule = AllowRule | StrictRule;

export type Operands = "none" | "paths" | "text" | "text-then-paths";
const OPERANDS: readonly Operands[] = ["none", "paths", "text", "text-then-paths"];

/** A rule in parsed form. */
export interface ReadRule {
  readonly rule: CommandRule;
  readonly words: readonly string[];
  readonly options: readonly OptionShape[];
  readonly operands: Operands;
}

const PROGRAM = /^[A-Za-z0-9][\w.+-]*$/;
const WORD = /^[\w./:@%+,-]+$/;
const KEYS = ["decision", "command", "options", "operands", "reason", "examples"];

/** Throws a `ConfigurationError` that names the rule and its mistake; examples are checked elsewhere. */
export function readRule(rule: CommandRule, index: number): ReadRule {
  const name = nameOf(rule, index);
  checkShape(rule, name);
  const words = rule.command.split(" ");
  const [program = "", ...rest] = words;
  if (!PROGRAM.test(program) || !rest.every((word) => WORD.test(word)))
    throw invalid(name, "must name one program, without a path or patterns, and plain words after it");
  if (rule.decision !== "allow") return { rule, words, options: [], operands: "none" };
  const { options = [], operands = "none" } = rule;
  if (!Array.isArray(options) || !OPERANDS.includes(operands))
    throw invalid(name, `has options that are no list, or operands other than ${OPERANDS.join(", ")}`);
  if (runsOtherPrograms(program) && (options.length > 0 || operands !== "none"))
    throw invalid(
      name,
      `would allow any program that '${program}' runs`,
      "Such a program can be allowed with fixed words only: no options, no operands.",
    );
  return { rule, words, options: options.map((option) => shapeOf(option, name)), operands };
}

function shapeOf(option: unknown, name: string): OptionShape {
  const shape = typeof option === "string" ? optionShape(option) : undefined;
  if (shape) return shape;
  throw invalid(
    name,
    `has an option that cannot be read: ${JSON.stringify(option)}`,
    "Write -l, --stat, -n <number>, --format=<text>, --file=<path>, --stat[=<text>] or -<number>.",
  );
}

function checkShape(rule: CommandRule, name: string): void {
  if (typeof rule !== "object" || rule === null || typeof rule.command !== "string")
    throw invalid(name, "must be an object with a command");
  if (!["allow", "ask", "deny"].includes(rule.decision)) throw invalid(name, "must say allow, ask or deny");
  const unknown = Object.keys(rule).find(
    (key) => !KEYS.includes(key) || (rule.decision !== "allow" && (key === "options" || key === "operands")),
  );
  if (unknown !== undefined) throw invalid(name, `has a key '${unknown}' that it cannot have`);
  const { match, notMatch } = rule.examples ?? {};
  const isList = (list: unknown): boolean =>
    Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === "string");
  if (!isList(match) || !isList(notMatch))
    throw invalid(name, "has no examples", "Give commands it matches, and commands it must not match.");
}

export function nameOf(rule: CommandRule | null | undefined, index: number): string {
  const command = typeof rule?.command === "string" ? ` '${rule.command.slice(0, 60)}'` : "";
  return `Command rule ${index + 1}${command}`;
}

export function invalid(name: string, problem: string, hint?: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `${name} ${problem}.`, hint === undefined ? {} : { hint });
}
