/** Reads a stored report. The file may be anybody's, so its form is checked. */
import { z } from "zod";
import { EvalsError } from "../format/evals-error.ts";
import type { RunReport } from "../runner/trial-record.ts";

const count = z.number().min(0);

export const trialRecordSchema = z.object({
  harness: z.string(),
  model: z.string(),
  category: z.string(),
  case: z.string(),
  trial: z.number().int().min(1),
  status: z.enum(["passed", "failed", "infrastructure"]),
  reason: z.string().optional(),
  verdicts: z.array(
    z.object({
      name: z.string(),
      passed: z.boolean(),
      reason: z.string().optional(),
      judged: z.boolean().optional(),
    }),
  ),
  usage: z.object({
    modelCalls: count,
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cost: count.optional(),
    requestBytes: count,
    prefixBytes: count,
    invalidRequests: count,
    lostEdits: count,
  }),
  trace: z.array(
    z.object({
      kind: z.enum(["user", "reply", "result", "person", "fault"]),
      text: z.string(),
      calls: z.array(z.object({ name: z.string(), args: z.string() })).optional(),
      failed: z.boolean().optional(),
    }),
  ),
  times: z.object({ cpuMs: count, wallMs: count }),
});

const reportSchema = z.object({
  version: z.literal(1),
  harnesses: z.array(z.string()),
  models: z.array(z.string()),
  versions: z.record(z.string(), z.string()).optional(),
  trials: z.number().int().min(1),
  complete: z.boolean(),
  stopReason: z.string().optional(),
  records: z.array(trialRecordSchema),
});

/** `name` says in errors which file it was. */
export function readReport(text: string, name: string): RunReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EvalsError(`${name} is no JSON.`, "Expected a report of --json.");
  }
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data as RunReport;
  const [issue] = parsed.error.issues;
  throw new EvalsError(`${name} is no report of evals: ${issue?.path.join(".")}: ${issue?.message}`);
}
