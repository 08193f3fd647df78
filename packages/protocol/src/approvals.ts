/** Approvals: whatever waits for a person, over all threads of the caller. */
import { z } from "zod";
import { identifier, moment } from "./ids.ts";
import { wholeNumber } from "./query.ts";

export const decisionType = z.enum(["approve", "edit", "reject", "respond"]);
export type DecisionType = z.infer<typeof decisionType>;

export const approvalCall = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  description: z.string().optional(),
  allowed_decisions: z.array(z.string()).describe("Of `approve`, `edit`, `reject` and `respond`."),
  args_schema: z.unknown().optional().describe("JSON Schema of the arguments, if the agent gives it."),
  warnings: z.array(z.string()).describe("What is odd about the call, as plain sentences; empty: nothing."),
});
export type ApprovalCall = z.infer<typeof approvalCall>;

export const approval = z.object({
  thread_id: identifier,
  interrupt_id: z
    .string()
    .describe("Answered with `POST /threads/:thread_id/interrupts/:interrupt_id`; one answer wins."),
  assistant_id: z.string().optional().describe("Of the last run of the thread."),
  waiting_since: moment,
  agent_path: z.array(z.string()).optional().describe("The subagent that asks; absent: the agent itself."),
  calls: z
    .array(approvalCall)
    .describe("Answered with `{decisions: […]}`, one for each call in this order; empty: a question."),
  question: z.unknown().optional().describe("What is asked, where it is not about calls."),
  error: z.string().optional().describe("What was wrong with the last answer."),
});
export type Approval = z.infer<typeof approval>;

export const listApprovalsQuery = z.object({
  after: z.string().max(128).optional().describe("`cursor` of the last answer. Absent: answers at once."),
  wait: wholeNumber(0, 25)
    .default(0)
    .describe("Seconds to wait for a change after `after`. Without one the answer is the same list."),
});

export const approvals = z.object({
  approvals: z.array(approval).describe("The one that has waited longest first, at most 200 threads."),
  cursor: z.string().describe("Hand it back as `after`."),
  total: z.number().int().min(0).describe("Threads that wait."),
});
export type Approvals = z.infer<typeof approvals>;
