/** Orders for one subagent of the run at work. */
import { z } from "zod";
import { identifier } from "./ids.ts";

const subagent = z
  .string()
  .max(4096)
  .regex(/^[^|]+(?:\|[^|]+)*$/, "must be a namespace")
  .describe("The subagent's namespace, as names of events have it behind their kind: `tools:1|tools:2`.");

const id = identifier
  .optional()
  .describe("The order's id; a known one is not carried out again. Absent: the server makes one.");

export const stopSubagent = z.object({ subagent, id });
export type StopSubagent = z.infer<typeof stopSubagent>;

export const steerSubagent = z.object({
  subagent,
  id,
  content: z
    .union([z.string().min(1), z.array(z.record(z.string(), z.unknown())).min(1).max(256)])
    .describe("Text, or content blocks; it becomes a message of the user in the subagent's conversation."),
});
export type SteerSubagent = z.infer<typeof steerSubagent>;

export const subagentOrder = z.object({
  id: identifier,
  run_id: identifier.describe("The run that carries it out."),
});
export type SubagentOrder = z.infer<typeof subagentOrder>;
