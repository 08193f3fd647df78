/** Rules about commands in the places of an agent's options where they belong. */
import { type InterruptOnConfig, PolicyBackend, type WhenRequest } from "deepwright";
import type { CommandRules } from "./create-command-rules.ts";

/** Any backend that an agent takes. */
type BackendSource = ConstructorParameters<typeof PolicyBackend>[0];

export interface CommandApproval {
  /** Refuses commands that the rules deny, for the agent and all its subagents; the model reads why. */
  readonly backend: PolicyBackend;
  /** Asks a person about commands that the rules neither allow nor deny. */
  readonly interruptOn: { readonly execute: InterruptOnConfig };
}

/** To be spread into the options of an agent; it needs a checkpointer, as all approvals do. */
export function approveCommands(rules: CommandRules, backend: BackendSource): CommandApproval {
  const check = (operation: string, command: string): string | undefined => {
    if (operation !== "execute") return undefined;
    const { decision, reason } = rules.judge(command);
    return decision === "deny" ? reason : undefined;
  };
  return {
    backend: new PolicyBackend(backend, { check, allowExecute: true }),
    interruptOn: { execute: { when: asksAbout(rules), description: (call) => reasonFor(rules, call) } },
  };
}

function asksAbout(rules: CommandRules): (request: WhenRequest) => boolean {
  return ({ toolCall }) => {
    const { decision } = rules.judge(String(toolCall.args.command));
    return decision !== "allow" && decision !== "deny";
  };
}

/** Reason to ask about a call as the model wrote it; its argument may have either of two names. */
function reasonFor(
  rules: CommandRules,
  { args }: { readonly args: { readonly command?: unknown; readonly cmd?: unknown } },
): string {
  return rules.judge(String(args.command ?? args.cmd)).reason;
}
