/** Facts about an agent for pages: its model, and the limits of a request and a run. */
import type { AgentFacts } from "@deepwright/protocol";
import type { AgentDescription } from "deepwright";
import { priceOf } from "deepwright/internal";
import type { AnyGraph } from "../agents/graph-types.ts";
import { choicesOf } from "./run-choices.ts";

const UNKNOWN = { model: null, window: null, tokens: null, price: null, budget: null };

/** `savesRules`: rules of the project may be offered. */
export function factsOf(graph: AnyGraph, savesRules: boolean): Omit<AgentFacts, "directory"> {
  const { describe } = graph as { readonly describe?: () => AgentDescription };
  if (typeof describe !== "function") return { ...UNKNOWN, choices: shownChoices(graph, savesRules) };
  const { model, window, price, budget, tokens, tools } = describe.call(graph);
  const ofServers = tools.filter(({ name }) => name.startsWith("mcp__"));
  const mcpTokens = ofServers.reduce((sum, tool) => sum + tool.tokens, 0);
  return {
    model,
    window: window ?? null,
    tokens: { instructions: tokens.prompt, tools: tokens.tools - mcpTokens, mcp_tools: mcpTokens },
    price: price
      ? { input: price.input, output: price.output, cache_read: price.cacheRead ?? price.input }
      : null,
    budget: budget
      ? {
          max_tokens: limit(budget.maxTokens),
          max_cost: limit(budget.maxCost),
          max_steps: limit(budget.maxSteps),
          max_steps_per_agent: limit(budget.maxStepsPerAgent),
          max_seconds: limit(budget.maxSeconds),
        }
      : null,
    choices: shownChoices(graph, savesRules),
  };
}

function shownChoices(graph: AnyGraph, savesRules: boolean): AgentFacts["choices"] {
  const { approvalModes, models, kinds, budget, modes } = choicesOf(graph);
  return {
    approval_modes: [...approvalModes],
    approval_mode: modes?.modeOf("") ?? null,
    models: models.map((name) => ({
      name,
      is_priced: name === "offline" || priceOf(name.slice(name.indexOf(":") + 1)) !== undefined,
    })),
    agent_kinds: [...kinds],
    budget,
    rules: modes ? (savesRules && modes.savesRules ? ["thread", "project"] : ["thread"]) : [],
  };
}

const limit = (amount: number): number | null => (Number.isFinite(amount) ? amount : null);
