/** Crons: runs that begin by the clock, on a thread or each on one of its own. */
import { z } from "zod";
import { identifier, metadata, moment, page, sortOrder } from "./ids.ts";
import { createRun } from "./runs.ts";

export const cron = z.object({
  cron_id: identifier,
  assistant_id: identifier,
  thread_id: identifier.nullable(),
  schedule: z.string(),
  timezone: z.string().nullable(),
  end_time: moment.nullable(),
  enabled: z.boolean(),
  on_run_completed: z.enum(["delete", "keep"]),
  payload: z.record(z.string(), z.unknown()),
  user_id: z.string().nullable(),
  next_run_date: moment.nullable(),
  metadata,
  created_at: moment,
  updated_at: moment,
});
export type Cron = z.infer<typeof cron>;

export const createCron = createRun.extend({
  schedule: z.string().min(1).max(256),
  timezone: z.string().max(64).nullish(),
  end_time: z.string().nullish(),
  enabled: z.boolean().nullish(),
  on_run_completed: z.enum(["delete", "keep"]).nullish(),
});
export type CreateCron = z.infer<typeof createCron>;

export const updateCron = createCron.partial();
export type UpdateCron = z.infer<typeof updateCron>;

export const searchCrons = z.object({
  ...page,
  assistant_id: identifier.nullish(),
  thread_id: identifier.nullish(),
  enabled: z.boolean().nullish(),
  sort_by: z
    .enum(["cron_id", "assistant_id", "thread_id", "created_at", "updated_at", "next_run_date"])
    .nullish(),
  sort_order: sortOrder.nullish(),
  select: z.array(z.string()).nullish(),
});
export type SearchCrons = z.infer<typeof searchCrons>;
