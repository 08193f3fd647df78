/** Limits of a run, as a caller states them. */
import { checkNames } from "../check-options.ts";
import { checkDurations } from "../duration.ts";
import { ConfigurationError } from "../errors.ts";
import type { ModelPrice, ModelPrices } from "./prices.ts";

/** Limits over a run with all runs inside it. null means absent; an absent field has no limit. */
export interface Budget {
  /** Tokens in and out, as providers report them. */
  readonly maxTokens?: number | null;
  /** Dollars. A model without a known price is then refused: see `prices`. */
  readonly maxCost?: number | null;
  /** Model calls. */
  readonly maxSteps?: number | null;
  /** Model calls of one agent itself, in each run: those of its subagents do not count, and each of them has this limit, too. */
  readonly maxStepsPerAgent?: number | null;
  /** Wall-clock time in which the run is at work; waiting for a person does not count. */
  readonly maxSeconds?: number | null;
  /** Prices by model name. They come before the built-in prices. */
  readonly prices?: ModelPrices | null;
}

export interface Limits {
  readonly maxTokens: number;
  readonly maxCost: number;
  readonly maxSteps: number;
  readonly maxStepsPerAgent: number;
  readonly maxSeconds: number;
  readonly prices: ModelPrices;
}

const AMOUNTS = ["maxTokens", "maxCost", "maxSteps", "maxSeconds", "maxStepsPerAgent"] as const;
const NAMES: readonly string[] = [...AMOUNTS, "prices"];

/** Throws when it is no budget; undefined when there is none. */
export function limitsOf(budget: unknown): Limits | undefined {
  if (budget === undefined || budget === null) return undefined;
  if (typeof budget !== "object" || Array.isArray(budget))
    throw invalid("The option 'budget' must be an object.");
  checkNames("budget", budget, NAMES);
  const { prices, ...given } = budget as Budget;
  const limits = Object.fromEntries(AMOUNTS.map((name) => [name, amount(name, given[name])]));
  checkDurations({ unit: "seconds", unlimited: true, zero: true }, { "budget.maxSeconds": given.maxSeconds });
  return { ...(limits as Record<(typeof AMOUNTS)[number], number>), prices: pricesOf(prices) };
}

function amount(name: string, value: unknown): number {
  if (value === undefined || value === null) return Infinity;
  if (typeof value === "number" && value >= 0) return value;
  throw invalid(`The budget's '${name}' must be a number that is not negative, not ${String(value)}.`);
}

const REQUIRED_RATES = ["input", "output"] as const;
const RATES: readonly string[] = [...REQUIRED_RATES, "cacheRead", "cacheWrite", "above"];

function pricesOf(prices: unknown): ModelPrices {
  if (prices === undefined || prices === null) return {};
  if (typeof prices !== "object" || Array.isArray(prices))
    throw invalid("The budget's 'prices' must be an object of prices by the name of a model.");
  for (const [model, price] of Object.entries(prices)) checkPrice(model, price);
  return prices as ModelPrices;
}

function checkPrice(model: string, price: unknown): void {
  const isObject = typeof price === "object" && price !== null;
  const { above, ...rates } = (isObject ? price : {}) as Partial<ModelPrice>;
  const sound =
    isObject &&
    Object.keys(price).every((key) => RATES.includes(key)) &&
    REQUIRED_RATES.every((rate) => rates[rate] !== undefined) &&
    [...Object.values(rates), ...Object.values(above ?? {})].every((rate) => isRate(rate));
  if (sound) return;
  throw invalid(
    `The price of '${model}' is not one.`,
    "Dollars for a million tokens, e.g. {input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75}.",
  );
}

function isRate(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

function invalid(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message, hint === undefined ? {} : { hint });
}
