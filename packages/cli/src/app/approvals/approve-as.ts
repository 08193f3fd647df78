/** Approves the open call of a panel, and keeps the permission that was chosen with it. */
import type { Session } from "../session/session.ts";
import type { ApprovalPanel, Choice } from "./approval-panel.ts";

export async function approveAs(
  panel: ApprovalPanel,
  { rule, isForProject, remember }: Choice,
  session: Pick<Session, "place" | "allow">,
): Promise<void> {
  if (rule && isForProject) await session.place.local?.remember(rule);
  else if (rule) session.allow(rule);
  panel.approve(remember);
}
