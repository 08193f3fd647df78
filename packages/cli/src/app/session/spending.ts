/** Tokens by agent and model, and what is left of a budget. Pure. */
import type { Screen, Usage } from "@deepwright/protocol";
import { shortCount } from "../view/panes.ts";

export interface Spending {
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
}

/** The agent of the thread first, then subagents by name. `model` is for messages that do not name theirs. */
export function spendingOf({ main, subagents }: Screen, model: string): readonly Spending[] {
  const sums = new Map<string, Spending>();
  for (const agent of [main, ...Object.values(subagents)])
    for (const message of agent.messages) {
      if (!message.usage) continue;
      const one = {
        agent: agent === main ? "agent" : (agent.name ?? "subagent"),
        model: message.model ?? model,
      };
      const key = JSON.stringify([one.agent, one.model]);
      sums.set(key, { ...one, usage: plus(sums.get(key)?.usage, message.usage) });
    }
  return [...sums.values()];
}

function plus(sum: Usage = { input: 0, output: 0, total: 0 }, more: Usage): Usage {
  const cached = (sum.cached ?? 0) + (more.cached ?? 0);
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    total: sum.total + more.total,
    ...(cached > 0 && { cached }),
  };
}

export interface Budget {
  readonly maxCost?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** For the status line: what the run at work, or the last one, has left. Undefined: there is no budget. */
export function budgetLeft(
  { maxCost, maxTokens }: Budget,
  used: { readonly tokens: number; readonly cost: number | undefined },
): string | undefined {
  if (maxCost !== undefined && used.cost !== undefined)
    return `$${Math.max(0, maxCost - used.cost).toFixed(2)} of $${maxCost} left`;
  if (maxTokens === undefined) return maxCost === undefined ? undefined : `≤ $${maxCost} a run`;
  return `${shortCount(Math.max(0, maxTokens - used.tokens))} of ${shortCount(maxTokens)} tokens left`;
}

/** Tokens since a run began. */
export function usageSince(now: Usage, before: Usage): Usage {
  const cached = (now.cached ?? 0) - (before.cached ?? 0);
  return {
    input: now.input - before.input,
    output: now.output - before.output,
    total: now.total - before.total,
    ...(cached > 0 && { cached }),
  };
}
