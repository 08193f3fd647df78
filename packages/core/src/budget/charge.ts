/** One model call, charged to the budgets of the run it belongs to. */
import type { AIMessage } from "@langchain/core/messages";
import { treeOf } from "../backends/run-tree.ts";
import { readChannel, type TaskConfig } from "../engine/engine.ts";
import { DeepwrightError } from "../errors.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import type { RunUsage } from "../loop/messages/run-usage.ts";
import { RunEnded } from "../loop/task/run-ended-error.ts";
import { chargedTasks } from "./callback-charges.ts";
import { type Hold, Ledger, type Need, type Refusal, type StoredUsage } from "./ledger.ts";
import { costOf, type ModelPrice } from "./prices.ts";
import { agentUsages, ofModel, usageOfReply } from "./usage.ts";

/** The channel with the usage of the thread's run. */
export const USED = "_budget";

/** Facts about a call that are known before it is made. */
export interface CallFacts {
  /** The model, as its provider calls it. */
  readonly model: string;
  readonly inputTokens: number;
  /** Most tokens of the reply; undefined if unknown. */
  readonly maxOutputTokens?: number | undefined;
}

/** The ledger of the run a task belongs to; undefined when neither it nor a run around it has a budget. */
export function ledgerOf(config: unknown): Ledger | undefined {
  const { ledger } = treeOf(config);
  return ledger instanceof Ledger ? ledger : undefined;
}

/** Usage of a run, as stored with the thread of a task. */
export function storedUsage(config: TaskConfig): StoredUsage | undefined {
  return readChannel(config, USED) as StoredUsage | undefined;
}

/**
 * Asks if the budget allows; without one, simply asks. Throws RunEnded when it does not. A call that failed costs
 * nothing. `facts` is asked for only when there is a budget.
 */
export async function charged(
  config: TaskConfig,
  facts: () => CallFacts,
  ask: () => Promise<AIMessage>,
  signal: AbortSignal | undefined = config.signal,
): Promise<AIMessage> {
  const ledger = ledgerOf(config);
  if (ledger === undefined) return ask();
  ledger.adopt(storedUsage(config));
  const call = facts();
  const price = ledger.priceOf(call.model);
  const unpriced = price === undefined && ledger.limitsCost ? call.model : ledger.outermost.unpricedModel;
  if (unpriced !== undefined) throw unknownPrice(unpriced);
  const hold = await ledger.reserve(needOf(call, price, ledger), signal);
  if (!isHold(hold)) throw new RunEnded(outcomeOfRefusal(hold, ledger));
  let reply: AIMessage;
  try {
    reply = await chargedTasks.during(String(config.configurable?.checkpoint_ns ?? ""), ask);
  } catch (error) {
    hold.release();
    throw error;
  }
  const usage = usageOfReply(reply, price, call.inputTokens);
  hold.settle(ofModel(call.model, usage));
  if (usage.inputTokens > 0)
    cachedShares.set(ledger, { model: call.model, share: usage.cacheReadTokens / usage.inputTokens });
  return reply;
}

/** How much of the last request came from the provider's cache: of the next, about as much will. */
const cachedShares = new WeakMap<Ledger, { readonly model: string; readonly share: number }>();

/** Replies are mostly shorter than they may be. */
const EXPECTED_OUTPUT = 4096;

function needOf(
  { model, inputTokens, maxOutputTokens }: CallFacts,
  price: ModelPrice | undefined,
  ledger: Ledger,
): Need {
  const output = Math.min(maxOutputTokens ?? EXPECTED_OUTPUT, EXPECTED_OUTPUT);
  const last = cachedShares.get(ledger);
  const cacheRead = last?.model === model ? Math.floor(last.share * inputTokens) : 0;
  const cost = (tokens: number): number =>
    price === undefined ? 0 : costOf({ input: inputTokens, output: tokens, cacheRead, cacheWrite: 0 }, price);
  return { inputTokens, tokens: inputTokens + output, inputCost: cost(0), cost: cost(output) };
}

function isHold(value: Hold | Refusal): value is Hold {
  return "settle" in value;
}

function unknownPrice(model: string): DeepwrightError {
  const name = model === "" ? "(without a name)" : `'${model}'`;
  return new DeepwrightError(
    "PRICE_UNKNOWN",
    `The budget limits the cost, but the price of the model ${name} is not known.`,
    {
      hint: `Set it in dollars per million tokens: budget: {prices: {"${model}": {input: 1, output: 5}}, ...}.`,
    },
  );
}

/** Usage of a run, for programs. */
export function runUsage(ledger: Ledger): RunUsage {
  return { ...ledger.used, seconds: ledger.seconds, agents: agentUsages(ledger.agents) };
}

function outcomeOfRefusal(refusal: Refusal, ledger: Ledger): Outcome {
  const { used, allowed } = refusal;
  return { kind: "budget", detail: wordsFor(refusal), agentPath: ledger.agentPath, used, allowed };
}

function wordsFor({ limit, used, allowed, needed, owner }: Refusal): string {
  const whose = owner.length === 0 ? "" : ` of '${owner.join("/")}'`;
  const next = needed === undefined ? "" : `, and the next call needs about ${amount(limit, needed)}`;
  return `The budget${whose} of ${amount(limit, allowed)} is used up: ${amount(limit, used)} used${next}.`;
}

function amount(limit: Refusal["limit"], value: number): string {
  if (limit === "cost") return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
  if (limit === "seconds") return `${Math.round(value * 10) / 10} seconds`;
  const count = Math.ceil(value).toLocaleString("en-US");
  return limit === "tokens" ? `${count} tokens` : `${count} model ${value === 1 ? "call" : "calls"}`;
}
