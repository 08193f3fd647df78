/** Checks that an agent meets the demand of its backend: a person approves every call. */
import { ConfigurationError } from "../../errors.ts";
import type { ApprovalPolicy, CallGate } from "../approval-rules/approval-policy.ts";
import { isRunnable } from "../model/model-call.ts";
import type { AnyTool } from "../providers/any-tool.ts";

/**
 * Refuses tools whose approval depends on a condition, and tools that the provider runs itself: their calls could run
 * without a question.
 */
export function requireApprovals(
  tools: readonly AnyTool[],
  approvals: ApprovalPolicy | undefined,
  why: string,
): void {
  const unasked = tools.find((tool) => {
    const rule = isRunnable(tool) ? approvals?.get(nameOf(tool)) : undefined;
    return rule === undefined || rule.when !== undefined;
  });
  if (unasked === undefined) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `Every call of this agent needs approval, because ${why}, and '${nameOf(unasked)}' can be called without.`,
    {
      hint: isRunnable(unasked)
        ? `Put ${nameOf(unasked)}: true into interruptOn, of the agent and of every subagent.`
        : "It is run by the provider of the model, where nobody can be asked: leave it out.",
    },
  );
}

/** For tools that come in a run only, and for calls that a person agreed to once for longer. */
export function approvalGate(why: string): CallGate {
  return {
    everyTime: true,
    watches: () => true,
    asks: () => ({ description: `Every call needs approval, because ${why}.` }),
  };
}

function nameOf(tool: AnyTool): string {
  const { name, type } = tool as { readonly name?: string; readonly type?: string };
  return name ?? type ?? "a tool";
}
