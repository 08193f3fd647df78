/** Tokens and cost of runs that have ended. */
import { z } from "zod";
import { wholeNumber } from "./query.ts";

export const usageAmount = z.object({
  runs: z.number().int(),
  calls: z.number().int().describe("Model calls that were answered."),
  tokens: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number(),
  cost: z.number().describe("Dollars, for the calls whose price is known."),
  unpriced_calls: z.number().int().describe("Calls whose price is not known: they are not in `cost`."),
  estimated_calls: z.number().int().describe("Calls whose provider reported nothing."),
});
export type UsageAmount = z.infer<typeof usageAmount>;

const range = z.object({ p50: z.number(), p90: z.number() });
const forecast = z.object({ samples: z.number().int(), tokens: range, cost: range }).nullable();

export const usageReport = z.object({
  total: usageAmount,
  cached_share: z.number().nullable().describe("Of the input, from 0 to 1; null: there was none."),
  agents: z.array(usageAmount.extend({ agent_path: z.array(z.string()) })).describe("The costliest first."),
  assistants: z.array(usageAmount.extend({ assistant_id: z.string() })),
  last_run: usageAmount.nullable().describe("The newest one that was counted."),
  models: z
    .array(usageAmount.extend({ model: z.string() }))
    .describe("By the name of the model; without runs counted before version 0.2."),
  threads: z
    .array(usageAmount.extend({ thread_id: z.string() }))
    .describe("The newest first, at most 200 of them."),
  days: z.array(usageAmount.extend({ day: z.string().describe("In UTC, such as 2026-01-31.") })),
  uncounted_runs: z
    .number()
    .int()
    .describe("Runs that ended without a count: failed runs, and runs of agents without a budget."),
  forecast: forecast.describe(
    "Of one more run, from the runs counted here; null with fewer than 20 of them.",
  ),
  fan_out: forecast.describe(
    "Of the subagents of one more run, all of them together, from the runs counted here that had some; null with fewer than 20 of them.",
  ),
  truncated: z.boolean().describe("Only the newest 5,000 runs were counted."),
});
export type UsageReport = z.infer<typeof usageReport>;

export const usageQuery = z.object({
  days: wholeNumber(1, 366).default(30).describe("Runs that ended in so many days."),
});
