/** Tokens and cost of runs. */
import type { UsageAmount, UsageReport } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import type { EndedRun } from "../records/records.ts";
import type { Call, Handlers } from "./call.ts";
import { threadOf } from "./thread-parts.ts";

const DAY_MS = 24 * 60 * 60_000;
const MOST_RUNS = 5_000;
const MOST_THREADS = 200;
/** With fewer runs a forecast would be a guess. */
const ENOUGH = 20;

export const usageRoutes: Handlers<"usage"> = {
  "usage.ofThread": async (call) => {
    const { thread_id: threadId } = await threadOf(call.services, call.owner, call.parameters.thread_id);
    return reportOf(await endedIn(call, threadId));
  },

  "usage.report": async (call) => reportOf(await endedIn(call)),
};

function endedIn(
  { services, owner, query }: Call<"usage.report"> | Call<"usage.ofThread">,
  threadId?: string,
): Promise<readonly EndedRun[]> {
  const since = Date.now() - query.days * DAY_MS;
  return services.records.runs.ended(owner, { threadId, since, limit: MOST_RUNS });
}

const NOTHING: UsageAmount = {
  runs: 0,
  calls: 0,
  tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cost: 0,
  unpriced_calls: 0,
  estimated_calls: 0,
};

export function reportOf(runs: readonly EndedRun[]): UsageReport {
  const agents = new Map<string, UsageAmount>();
  const assistants = new Map<string, UsageAmount>();
  const days = new Map<string, UsageAmount>();
  const models = new Map<string, UsageAmount>();
  const threads = new Map<string, UsageAmount>();
  const each: UsageAmount[] = [];
  const fanOuts: UsageAmount[] = [];
  for (const { assistantId, threadId, endedAt, outcome } of runs) {
    const usage = isRecord(outcome?.usage) ? outcome.usage : undefined;
    if (usage === undefined) continue;
    const amount = amountOf(usage);
    each.push(amount);
    addTo(assistants, assistantId, amount);
    addTo(days, new Date(endedAt).toISOString().slice(0, 10), amount);
    addTo(threads, threadId, amount);
    const inner: UsageAmount[] = [];
    for (const agent of Array.isArray(usage.agents) ? usage.agents.filter(isRecord) : []) {
      const path = Array.isArray(agent.agentPath) ? agent.agentPath : [];
      addTo(agents, JSON.stringify(path), amountOf(agent));
      if (path.length > 0) inner.push(amountOf(agent));
      for (const [model, used] of Object.entries(isRecord(agent.models) ? agent.models : {}))
        if (isRecord(used)) addTo(models, model, amountOf(used));
    }
    if (inner.length > 0) fanOuts.push(inner.reduce(sum));
  }
  const total = each.reduce(sum, NOTHING);
  return {
    total,
    cached_share: total.input_tokens === 0 ? null : total.cache_read_tokens / total.input_tokens,
    agents: [...agents]
      .map(([path, amount]) => ({ ...amount, agent_path: JSON.parse(path) as string[] }))
      .sort(costliestFirst),
    models: [...models].map(([model, amount]) => ({ ...amount, model })).sort(costliestFirst),
    threads: [...threads].slice(0, MOST_THREADS).map(([thread_id, amount]) => ({ ...amount, thread_id })),
    assistants: [...assistants].map(([assistant_id, amount]) => ({ ...amount, assistant_id })),
    days: [...days]
      .map(([day, amount]) => ({ ...amount, day }))
      .sort((left, right) => (left.day < right.day ? -1 : 1)),
    last_run: each[0] ?? null,
    uncounted_runs: runs.length - each.length,
    forecast: forecastOf(each),
    fan_out: forecastOf(fanOuts),
    truncated: runs.length === MOST_RUNS,
  };
}

const costliestFirst = (left: UsageAmount, right: UsageAmount): number =>
  right.cost - left.cost || right.tokens - left.tokens;

function forecastOf(each: readonly UsageAmount[]): UsageReport["forecast"] {
  if (each.length < ENOUGH) return null;
  const range = (key: "tokens" | "cost") => {
    const sorted = each.map((amount) => amount[key]).sort((left, right) => left - right);
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] as number;
    return { p50: at(0.5), p90: at(0.9) };
  };
  return { samples: each.length, tokens: range("tokens"), cost: range("cost") };
}

/** Numbers of an agent of somebody else may be anything. */
function amountOf(usage: Record<string, unknown>): UsageAmount {
  const number = (name: string): number => {
    const value = usage[name];
    return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
  };
  return {
    runs: 1,
    calls: Math.round(number("calls")),
    tokens: number("tokens"),
    input_tokens: number("inputTokens"),
    output_tokens: number("outputTokens"),
    cache_read_tokens: number("cacheReadTokens"),
    cost: number("cost"),
    unpriced_calls: Math.round(number("unpricedCalls")),
    estimated_calls: Math.round(number("estimatedCalls")),
  };
}

function addTo(amounts: Map<string, UsageAmount>, key: string, amount: UsageAmount): void {
  amounts.set(key, sum(amounts.get(key) ?? NOTHING, amount));
}

function sum(one: UsageAmount, other: UsageAmount): UsageAmount {
  const keys = Object.keys(NOTHING) as (keyof UsageAmount)[];
  return Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as UsageAmount;
}
