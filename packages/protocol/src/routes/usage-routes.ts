import { usageQuery, usageReport } from "../usage.ts";
import { ids, type Route } from "./route.ts";

export const usageRoutes = [
  {
    name: "usage.ofThread",
    method: "GET",
    path: "/threads/:thread_id/usage",
    summary: "Returns the usage of a thread's runs.",
    parameters: ids("thread_id"),
    query: usageQuery,
    answer: usageReport,
    standard: false,
  },
  {
    name: "usage.report",
    method: "GET",
    path: "/usage",
    summary: "Tells what all runs of the caller have used, and what one more may use.",
    query: usageQuery,
    answer: usageReport,
    standard: false,
  },
] as const satisfies readonly Route[];
