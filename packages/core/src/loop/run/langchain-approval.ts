/**
 * Approvals that another library asked for. An agent of LangChain or `deepagents` waits in a node of its own, which our
 * graph does not have. An answer to it goes to our approval node, which decides about the same calls.
 */
import { Command } from "@langchain/langgraph";
import { branchTo } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { APPROVAL_NODE, hasNode, type Loop } from "../contract/loop.ts";

interface Saved {
  readonly checkpoint: { readonly channel_values?: Record<string, unknown> };
}

interface Pending {
  readonly id?: string;
  readonly value?: unknown;
}

/** The command as our graph understands it; the same one for an approval of our own. */
export function resumedAtOwnApproval(
  loop: Loop,
  command: Command,
  saved: Saved | undefined,
  interrupts: readonly Pending[],
): Command {
  const branch = branchTo("");
  const nodes = Object.keys(saved?.checkpoint.channel_values ?? {})
    .filter((channel) => channel.startsWith(branch))
    .map((channel) => channel.slice(branch.length));
  const [pending] = interrupts;
  if (nodes.length === 0 || pending === undefined || nodes.some((node) => hasNode(loop, node)))
    return command;
  const { actionRequests } = (pending.value ?? {}) as { actionRequests?: readonly { name: string }[] };
  if (!Array.isArray(actionRequests)) throw foreign("It is not a question about tool calls.");
  const open = actionRequests.map(({ name }) => name).filter((name) => !alwaysAsks(loop, name));
  if (open.length > 0)
    throw foreign(`Give this agent interruptOn for ${[...new Set(open)].join(", ")}, without a condition.`);
  const { resume } = command as { resume?: Record<string, unknown> };
  const answer = pending.id !== undefined && resume?.[pending.id] !== undefined ? resume[pending.id] : resume;
  return new Command({ ...command, resume: answer, goto: [APPROVAL_NODE] } as never);
}

/** Whether a rejected call certainly does not run: our node must ask about it as well. */
function alwaysAsks({ approvals }: Loop, tool: string): boolean {
  const rule = approvals?.get(tool);
  return rule !== undefined && rule.when === undefined;
}

function foreign(hint: string): DeepwrightError {
  return new DeepwrightError(
    "INVALID_RESUME",
    "This thread waits for an answer to a question that another agent library asked.",
    { hint },
  );
}
