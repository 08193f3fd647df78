/** Usage as the server reports it, of one thread or of all threads. */
import { call } from "../state/connection.ts";
import type { Amount } from "../state/usage.ts";

interface Range {
  readonly p50: number;
  readonly p90: number;
}

export interface ForecastAmounts {
  readonly samples: number;
  readonly tokens: Range;
  readonly cost: Range;
}

export interface Report {
  readonly total: Amount & { readonly runs: number };
  readonly cached_share: number | null;
  readonly models: readonly (Amount & { readonly model: string })[];
  readonly agents: readonly (Amount & { readonly agent_path: readonly string[] })[];
  readonly threads: readonly (Amount & { readonly thread_id: string })[];
  readonly days: readonly (Amount & { readonly day: string })[];
  readonly last_run: Amount | null;
  readonly uncounted_runs: number;
  readonly forecast: ForecastAmounts | null;
  readonly fan_out: ForecastAmounts | null;
}

/** The longest time that the server reports on. */
export const MOST_DAYS = 366;

export function reportOfThread(threadId: string): Promise<Report> {
  return call("GET", "/threads/:thread_id/usage", {
    parameters: { thread_id: threadId },
    query: { days: MOST_DAYS },
  });
}

export function reportOfAll(days: number): Promise<Report> {
  return call("GET", "/usage", { query: { days } });
}
