/**
 * Rules that decide which commands need no question, need one, or are refused.
 *
 * They save a person questions and are not a boundary: an allowed program reads its configuration, runs hooks and
 * plug-ins, and may be another program of the same name. The sandbox decides what a command can reach.
 */
import {
  type CommandDecision,
  type CommandRule,
  invalid,
  nameOf,
  type ReadRule,
  readRule,
} from "./command-rule.ts";
import { allows, concerns } from "./match-rule.ts";
import { namedPrograms, readCommand } from "./read-command.ts";

export interface CommandVerdict {
  readonly decision: CommandDecision;
  /** One sentence for the person who decides, or for the model whose command is refused. */
  readonly reason: string;
  /** The rule that decided; absent: none matched. */
  readonly rule?: CommandRule;
  /** The program and its words, of a command that was understood. */
  readonly words?: readonly string[];
}

export interface CommandRules {
  /** The strictest rule that matches decides: deny, ask, allow. Without any the answer is ask. Never throws. */
  judge(command: string): CommandVerdict;
  /** The rules in words, a line each, and that they are no boundary. */
  describe(): string;
}

/** Throws a `ConfigurationError` for a rule that cannot be read, has no examples, or contradicts its examples. */
export function createCommandRules(rules: readonly CommandRule[]): CommandRules {
  const read = rules.map(readRule);
  for (const [index, rule] of read.entries()) checkExamples(rule, nameOf(rule.rule, index));
  return { judge: (command) => judged(String(command), read), describe: () => described(read) };
}

function judged(command: string, rules: readonly ReadRule[]): CommandVerdict {
  const strict = rules.filter(({ rule }) => rule.decision !== "allow");
  const programs = strict.length > 0 ? namedPrograms(command) : [];
  const reading = readCommand(command);
  const words = reading.problem === undefined ? { words: reading.words } : {};
  for (const decision of ["deny", "ask"] as const) {
    const found = strict.find((one) => one.rule.decision === decision && concerns(one, programs));
    if (found) return { decision, reason: strictReason(found), rule: found.rule, ...words };
  }
  if (reading.problem !== undefined)
    return { decision: "ask", reason: `The command is not a plain one: it ${reading.problem}.` };
  const allowing = rules.find((one) => one.rule.decision === "allow" && allows(one, reading.words));
  if (!allowing) return { decision: "ask", reason: "No rule allows this command.", ...words };
  return { decision: "allow", reason: `A rule allows ${quoted(allowing)}.`, rule: allowing.rule, ...words };
}

function strictReason(found: ReadRule): string {
  const { rule } = found;
  const why = "reason" in rule && rule.reason !== undefined ? ` ${rule.reason}` : "";
  return `A rule ${rule.decision === "deny" ? "refuses" : "asks about"} ${quoted(found)}.${why}`;
}

function quoted({ rule }: ReadRule): string {
  return `\`${rule.command}\``;
}

function checkExamples(read: ReadRule, name: string): void {
  const { match, notMatch } = read.rule.examples;
  const missed = match.find((command) => !matches(read, command));
  if (missed !== undefined) throw invalid(name, `does not match its example ${shown(missed)}`);
  const hit = notMatch.find((command) => matches(read, command));
  if (hit !== undefined) throw invalid(name, `matches its example of what it must not match, ${shown(hit)}`);
}

function shown(command: string): string {
  return JSON.stringify(command.slice(0, 200));
}

function matches(read: ReadRule, command: string): boolean {
  if (read.rule.decision !== "allow") return concerns(read, namedPrograms(command));
  const { words } = readCommand(command) as { readonly words?: readonly string[] };
  return words !== undefined && allows(read, words);
}

function described(rules: readonly ReadRule[]): string {
  const lines = rules.map(({ rule, options, operands }) => {
    if (rule.decision !== "allow") return `${rule.decision}: ${rule.command}`;
    const names = options.map(({ name }) => name).join(" ");
    return `allow: ${rule.command}${names ? ` [${names}]` : ""}${operands === "none" ? "" : ` <${operands}>`}`;
  });
  return [
    ...lines,
    "Everything else is asked about. These rules spare questions; they are not a boundary.",
  ].join("\n");
}
