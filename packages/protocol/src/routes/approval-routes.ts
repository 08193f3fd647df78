import { approvals, listApprovalsQuery } from "../approvals.ts";
import { linkDecision, linkedApproval, readApprovalLink } from "../settings/approval-links.ts";
import type { Route } from "./route.ts";

export const approvalRoutes = [
  {
    name: "approvals.list",
    method: "GET",
    path: "/approvals",
    summary: "Lists what waits for a person in all threads, and waits for changes if asked to.",
    query: listApprovalsQuery,
    answer: approvals,
    standard: false,
  },
] as const satisfies readonly Route[];

export const approvalLinkRoutes = [
  {
    name: "approvalLinks.read",
    method: "POST",
    path: "/approval-links/read",
    summary: "Shows the calls that a link is for. The link can still be used afterwards.",
    body: readApprovalLink,
    answer: linkedApproval,
    problems: ["NOT_FOUND", "NOT_SUPPORTED"],
    open: true,
    standard: false,
  },
  {
    name: "approvalLinks.decide",
    method: "POST",
    path: "/approval-links/decide",
    summary: "Decides about the calls of a link, and uses the link up.",
    body: linkDecision,
    answer: "nothing",
    problems: ["NOT_FOUND", "NOTHING_TO_RESUME", "THREAD_BUSY", "NOT_SUPPORTED"],
    open: true,
    standard: false,
  },
] as const satisfies readonly Route[];
