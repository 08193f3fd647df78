/** Links to one decision, as webhooks carry them. */
import { z } from "zod";
import { approvalCall } from "../approvals.ts";
import { moment } from "../ids.ts";

const link = z.string().min(20).max(200).describe("The part of the address between `#` and `.`.");

export const readApprovalLink = z.object({ link });

export const linkedApproval = z.union([
  z.object({
    status: z.literal("waiting"),
    expires_at: moment,
    waiting_since: moment,
    agent_path: z.array(z.string()).optional().describe("The subagent that asks; absent: the agent itself."),
    calls: z.array(approvalCall).describe("Decided together, one decision for each in this order."),
  }),
  z.object({ status: z.literal("answered") }),
]);
export type LinkedApproval = z.infer<typeof linkedApproval>;

const words = z.string().max(20_000);

export const linkDecision = z.object({
  link,
  decisions: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("approve") }),
        z.strictObject({ type: z.literal("reject"), message: words.optional() }),
        z.strictObject({ type: z.literal("respond"), message: words }),
      ]),
    )
    .min(1)
    .max(100),
});
export type LinkDecision = z.infer<typeof linkDecision>;
