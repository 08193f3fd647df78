/** How much a model thinks, for providers that take it with a request. Pure. */
import type { ModelChoice } from "./choice.ts";

export const EFFORTS = ["low", "medium", "high"] as const;
export type Effort = (typeof EFFORTS)[number];

/** Models by provider; others refuse a request that names an effort. */
const TAKING: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-(?:opus-4-[5-9]|sonnet-4-[6-9]|(?:opus|sonnet)-[5-9])/,
  openai: /^(?:gpt-[5-9]|o[1-9])/,
};

export function takesEffort(choice: ModelChoice): boolean {
  return choice.kind === "provider" && (TAKING[choice.provider]?.test(choice.model) ?? false);
}

export function isEffort(value: unknown): value is Effort {
  return (EFFORTS as readonly unknown[]).includes(value);
}
