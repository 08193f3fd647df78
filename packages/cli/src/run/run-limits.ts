/** Limits of a run, parsed from the options. */
import type { ModelPrices } from "deepwright";
import { usageError } from "../command-error.ts";
import type { ModelChoice } from "../model/choice.ts";

export interface RawLimits {
  readonly maxSteps?: string;
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly maxSeconds?: string;
}

export interface Limits {
  /** Model calls. */
  readonly maxSteps?: number;
  /** Model calls of each agent itself; only settings have it. */
  readonly maxStepsPerAgent?: number;
  /** Dollars. */
  readonly maxCost?: number;
  readonly maxTokens?: number;
  /** At work; waiting for a person does not count. */
  readonly maxSeconds?: number;
}

/** The limits in the form the library takes. */
export const MAX_SECONDS = 1e12;

export function limitsOf({ maxSteps, maxCost, maxTokens, maxSeconds }: RawLimits): Limits {
  return {
    ...(maxSteps === undefined ? {} : { maxSteps: whole("--max-steps", maxSteps, "model calls") }),
    ...(maxCost === undefined
      ? {}
      : { maxCost: amount("--max-cost", maxCost.replace(/^\$/, ""), "of dollars") }),
    ...(maxTokens === undefined ? {} : { maxTokens: whole("--max-tokens", maxTokens, "tokens") }),
    ...(maxSeconds === undefined
      ? {}
      : { maxSeconds: amount("--max-seconds", maxSeconds, "of seconds", MAX_SECONDS) }),
  };
}

/** A number above 0. */
export function amount(option: string, text: string, unit: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value <= most) return value;
  throw usageError(`${option} must be a number ${unit} above 0, but it is '${text}'.`);
}

function whole(option: string, text: string, unit: string): number {
  const value = Number(text.replaceAll(/[_,]/g, ""));
  if (text.trim() !== "" && Number.isSafeInteger(value) && value > 0) return value;
  throw usageError(`${option} must be a whole number of ${unit} above 0, but it is '${text}'.`);
}

/** The budget for the library; undefined without a limit. Models that run on this machine cost nothing. */
export function budgetOf(
  limits: Limits,
  choice: ModelChoice,
): (Limits & { readonly prices: ModelPrices }) | undefined {
  if (Object.keys(limits).length === 0) return undefined;
  const free = { input: 0, output: 0 };
  const isLocal = choice.kind === "provider" && choice.provider === "ollama";
  const prices = { offline: free, ...(isLocal ? { [choice.model]: free } : {}) };
  return { ...limits, prices };
}
