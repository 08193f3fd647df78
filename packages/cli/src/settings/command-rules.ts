/** The command rules of the settings, as a judge of commands. */
import {
  type CommandDecision,
  createCommandRules,
  type StrictRule,
} from "@deepwright/sandboxes/command-rules";
import type { Settings } from "./schema.ts";

export interface SettingsVerdict {
  readonly decision: CommandDecision;
  readonly reason: string;
}

/** Undefined: the rules say nothing about the command. The strictest rule counts. */
export type CommandJudge = (command: string) => SettingsVerdict | undefined;

/** Undefined where there are no rules. */
export function commandJudge(commands: Settings["commands"] = {}): CommandJudge | undefined {
  const { allow = [], ask = [], deny = [] } = commands;
  if (allow.length + ask.length + deny.length === 0) return undefined;
  const rules = createCommandRules([
    ...ask.map((one) => strict("ask", one)),
    ...deny.map((one) => strict("deny", one)),
  ]);
  const patterns = allow.map((one) => one.split(" "));
  return (command) => {
    const { decision, reason, rule, words } = rules.judge(command);
    if (rule !== undefined) return { decision, reason };
    const allowing = words && patterns.find((pattern) => allows(pattern, words));
    return allowing && { decision: "allow", reason: `The settings allow \`${allowing.join(" ")}\`.` };
  };
}

/** `words` are those of one plain command: no pipe, list, redirect or substitution. */
function allows(pattern: readonly string[], words: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === "*";
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((word, i) => word === words[i]);
}

function strict(decision: "ask" | "deny", command: string): StrictRule {
  const other = `${command.startsWith("true") ? "false" : "true"} no`;
  return {
    decision,
    command,
    reason: "It is in the settings.",
    examples: { match: [command], notMatch: [other] },
  };
}
