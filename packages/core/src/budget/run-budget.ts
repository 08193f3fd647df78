/** Limits of a single run. They only lower the limits of the agent. */
import { ConfigurationError } from "../errors.ts";
import { type Limits, limitsOf } from "./limits.ts";

/** The key of `config.configurable`. Its value is a budget without prices. */
export const RUN_BUDGET_KEY = "run_budget";

/** The lower of both for each limit. Throws when `given` is no budget. */
export function lowered(limits: Limits | undefined, given: unknown): Limits | undefined {
  const own = limitsOfRun(given);
  if (own === undefined || limits === undefined) return own ?? limits;
  return {
    maxTokens: Math.min(limits.maxTokens, own.maxTokens),
    maxCost: Math.min(limits.maxCost, own.maxCost),
    maxSteps: Math.min(limits.maxSteps, own.maxSteps),
    maxStepsPerAgent: Math.min(limits.maxStepsPerAgent, own.maxStepsPerAgent),
    maxSeconds: Math.min(limits.maxSeconds, own.maxSeconds),
    prices: limits.prices,
  };
}

/** Undefined: the run has no limits. Prices are refused: a caller could make the run look cheap. */
export function limitsOfRun(given: unknown): Limits | undefined {
  const hasPrices = typeof given === "object" && given !== null && "prices" in given;
  if (!hasPrices) return limitsOf(given);
  throw new ConfigurationError("INVALID_OPTION", "The budget of a single run cannot state prices.");
}
