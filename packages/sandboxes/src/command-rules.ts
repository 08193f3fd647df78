/** Rules for commands that need no approval. They spare questions; they are not a boundary: a sandbox is. */
export { approveCommands, type CommandApproval } from "./rules/approve-commands.ts";
export type {
  AllowRule,
  CommandDecision,
  CommandRule,
  Operands,
  RuleExamples,
  StrictRule,
} from "./rules/command-rule.ts";
export { type CommandRules, type CommandVerdict, createCommandRules } from "./rules/create-command-rules.ts";
export { GIT_LOG_OPTIONS, READ_ONLY_COMMANDS } from "./rules/read-only-commands.ts";
