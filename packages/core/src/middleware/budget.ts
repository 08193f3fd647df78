/** Holds a run, with all the runs inside it, to a budget of tokens, cost, model calls and time. */
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { addStored, createBudgetStages } from "../budget/budget-stages.ts";
import { type CallFacts, USED } from "../budget/charge.ts";
import { type Budget, type Limits, limitsOf } from "../budget/limits.ts";
import { modelName } from "../context/tokens/known-windows.ts";
import { requestTokens } from "../context/tokens/token-meter.ts";
import { LIMITS } from "../internal-symbols.ts";
import type { Loop } from "../loop/contract/loop.ts";
import type { Outgoing, WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { type ChatModel, innermostModel } from "../loop/providers/model-source.ts";

export type BudgetMiddleware = AgentMiddleware & WithStages;

const usedSchema = z.any();

/** Without a budget of its own an agent still counts towards the budget of an enclosing run. */
export function createBudgetMiddleware(budget?: Budget | null): BudgetMiddleware {
  const limits = limitsOf(budget);
  const stages = createBudgetStages({ limits, factsOf });
  const middleware = builtInMiddleware({
    name: "BudgetMiddleware",
    stateSchema: new StateSchema({
      [USED]: new ReducedValue(usedSchema, { reducer: addStored }),
    }) as never,
    ownLoopOnly: true,
    stages,
  });
  return Object.assign(middleware, { [LIMITS]: limits });
}

/** The limits of an agent; undefined when it has no budget, not even one that only counts. */
export function limitsOfAgent({ middleware }: Pick<Loop, "middleware">): Limits | undefined {
  return middleware
    .map((one) => (one as { readonly [LIMITS]?: Limits })[LIMITS])
    .find((limits) => limits !== undefined);
}

function factsOf({ model, messages, tools, settings }: Outgoing): CallFacts {
  const [first, ...rest] = messages;
  const isSystem = first?.type === "system";
  const inputTokens = requestTokens({
    system: isSystem ? (first as never) : undefined,
    messages: isSystem ? rest : messages,
    tools,
    model,
  });
  return { model: modelName(model), inputTokens, maxOutputTokens: outputLimit(model, settings) };
}

const OUTPUT_SETTINGS = ["maxTokens", "max_tokens", "maxOutputTokens", "maxCompletionTokens"] as const;

function outputLimit(model: ChatModel, settings: Readonly<Record<string, unknown>>): number | undefined {
  const inner = innermostModel(model) as unknown as Readonly<Record<string, unknown>>;
  const { maxOutputTokens } = (inner.profile ?? {}) as { maxOutputTokens?: unknown };
  const stated = [settings, inner].flatMap((place) => OUTPUT_SETTINGS.map((name) => place[name]));
  return [...stated, maxOutputTokens].find(
    (value): value is number => typeof value === "number" && value > 0,
  );
}
