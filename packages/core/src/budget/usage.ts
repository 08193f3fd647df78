/** Usage of model calls as their providers reported it: counted, added up, separated by agent. */
import type { AIMessage } from "@langchain/core/messages";
import type { AgentUsage, Usage, UsageByModel } from "../loop/messages/run-usage.ts";
import { estimateTokens } from "../tokens.ts";
import { costOf, type ModelPrice } from "./prices.ts";

export const NO_USAGE: Usage = {
  calls: 0,
  tokens: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  unpricedCalls: 0,
  estimatedCalls: 0,
};

const FIELDS = Object.keys(NO_USAGE) as readonly (keyof Usage)[];

export function addUsage(one: Usage, other: Usage): Usage {
  return Object.fromEntries(FIELDS.map((field) => [field, one[field] + (other[field] ?? 0)])) as never;
}

/** Usage by agent; the key is the path of the agent as JSON. */
export type UsageByAgent = Readonly<Record<string, UsageByModel>>;

export function addByAgent(one: UsageByAgent, other: UsageByAgent): UsageByAgent {
  return addEach(one, other, addWithModels);
}

function addWithModels(one: UsageByModel, other: UsageByModel): UsageByModel {
  const models = addEach(one.models ?? {}, other.models ?? {}, addUsage);
  return { ...addUsage(one, other), ...(Object.keys(models).length > 0 && { models }) };
}

function addEach<Amount extends Usage>(
  one: Readonly<Record<string, Amount>>,
  other: Readonly<Record<string, Amount>>,
  add: (one: Amount, other: Amount) => Amount,
): Readonly<Record<string, Amount>> {
  const sum = new Map(Object.entries(one));
  for (const [key, amount] of Object.entries(other)) {
    const before = sum.get(key);
    sum.set(key, before === undefined ? amount : add(before, amount));
  }
  return Object.fromEntries(sum);
}

export function totalOf(agents: UsageByAgent): Usage {
  return Object.values(agents).reduce(addUsage, NO_USAGE);
}

/** Usage of one call under the name of its model. */
export function ofModel(model: string, usage: Usage): UsageByModel {
  return { ...usage, models: Object.fromEntries([[model, usage]]) };
}

export function agentUsages(agents: UsageByAgent): AgentUsage[] {
  return Object.entries(agents).map(([key, usage]) => ({ agentPath: JSON.parse(key) as string[], ...usage }));
}

/**
 * Usage of one reply. `inputEstimate` replaces the input of a provider that reports nothing, so that no call counts as
 * free.
 */
export function usageOfReply(reply: AIMessage, price: ModelPrice | undefined, inputEstimate: number): Usage {
  const counted = reported(reply) ?? estimated(reply, inputEstimate);
  const cost =
    price === undefined
      ? 0
      : costOf(
          {
            input: counted.inputTokens,
            output: counted.outputTokens,
            cacheRead: counted.cacheReadTokens,
            cacheWrite: counted.cacheWriteTokens,
          },
          price,
        );
  return { ...counted, calls: 1, cost, unpricedCalls: price === undefined ? 1 : 0 };
}

function reported({ usage_metadata: usage }: AIMessage): Usage | undefined {
  if (usage === undefined || usage === null || !isCount(usage.input_tokens)) return undefined;
  const { cache_read, cache_creation } = usage.input_token_details ?? {};
  const cacheReadTokens = count(cache_read);
  const cacheWriteTokens = count(cache_creation);
  const cached = cacheReadTokens + cacheWriteTokens;
  // Some providers report cached tokens beside the other input tokens.
  const inputTokens = cached > usage.input_tokens ? usage.input_tokens + cached : usage.input_tokens;
  const total = count(usage.total_tokens);
  // Some leave the reasoning out of the output, but not out of the total.
  const outputTokens = Math.max(count(usage.output_tokens), total - inputTokens);
  return {
    ...NO_USAGE,
    tokens: inputTokens + outputTokens,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(usage.output_token_details?.reasoning),
  };
}

function estimated(reply: AIMessage, inputTokens: number): Usage {
  const calls = reply.tool_calls ?? [];
  const outputTokens = estimateTokens(reply.text + (calls.length > 0 ? JSON.stringify(calls) : ""));
  return { ...NO_USAGE, tokens: inputTokens + outputTokens, inputTokens, outputTokens, estimatedCalls: 1 };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function count(value: unknown): number {
  return isCount(value) ? value : 0;
}
