/** Crons: runs that begin by the clock, on a thread or each on one of its own. */
import { z } from "zod";
import { identifier, metadata, moment, page, sortOrder } from "./ids.ts";
import { createRun } from "./runs.ts";

/** What becomes of the thread of a run that had one of its own. */
export const onRunCompleted = z.enum(["delete", "keep"]);

export const cron = z.object({
  cron_id: identifier,
  assistant_id: identifier,
  thread_id: identifier.nullable(),
  /** Five fields; six have seconds. */
  schedule: z.string(),
  /** An IANA name; null: UTC. */
  timezone: z.string().nullable(),
  end_time: moment.nullable(),
  enabled: z.boolean(),
  on_run_completed: onRunCompleted,
  /** What each run is begun with. */
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
  end_time: moment.nullish(),
  enabled: z.boolean().nullish(),
  on_run_completed: onRunCompleted.nullish(),
});
export type CreateCron = z.infer<typeof createCron>;

export const updateCron = createCron.omit({ assistant_id: true }).partial();
export type UpdateCron = z.infer<typeof updateCron>;

const cronFilter = {
  assistant_id: identifier.nullish(),
  thread_id: identifier.nullish(),
  metadata: metadata.nullish(),
};

export const cronField = z.enum([
  "cron_id",
  "assistant_id",
  "thread_id",
  "end_time",
  "schedule",
  "created_at",
  "updated_at",
  "user_id",
  "payload",
  "next_run_date",
  "metadata",
  "now",
  "timezone",
  "enabled",
  "on_run_completed",
]);

export const searchCrons = z.object({
  ...page,
  ...cronFilter,
  enabled: z.boolean().nullish(),
  sort_by: z
    .enum(["cron_id", "assistant_id", "thread_id", "created_at", "updated_at", "next_run_date"])
    .nullish(),
  sort_order: sortOrder.nullish(),
  /** Only these fields are in the answer. */
  select: z.array(cronField).nullish(),
});
export type SearchCrons = z.infer<typeof searchCrons>;

export const countCrons = z.object(cronFilter);
export type CountCrons = z.infer<typeof countCrons>;
