/** Crons: runs that begin by the clock, on a thread or each on one of its own. */
import { z } from "zod";
import { filter, identifier, metadata, moment, page, selectOf, sortOrder } from "./ids.ts";
import { createRun } from "./runs.ts";

export const onRunCompleted = z
  .enum(["delete", "keep"])
  .describe("What becomes of the thread of a run that had one of its own.");

export const cron = z.object({
  cron_id: identifier,
  assistant_id: identifier,
  thread_id: identifier.nullable().describe("Null: each run has one of its own."),
  schedule: z.string().describe("Five fields; six have seconds."),
  timezone: z.string().nullable().describe("An IANA name; null: UTC."),
  end_time: moment.nullable().describe("When it ends."),
  enabled: z.boolean(),
  on_run_completed: onRunCompleted,
  payload: z.record(z.string(), z.unknown()).describe("What each run is begun with."),
  user_id: z.string().nullable().describe("Whose it is."),
  next_run_date: moment.nullable().describe("Null: never again."),
  metadata,
  created_at: moment,
  updated_at: moment,
});
export type Cron = z.infer<typeof cron>;

export const createCron = createRun.extend({
  schedule: z
    .string()
    .min(1)
    .max(256)
    .describe(
      "Five fields as in crontab; six begin with seconds. Dates must be a minute apart, or as far as the server says.",
    ),
  timezone: z.string().max(64).nullish().describe("An IANA name. Default UTC."),
  end_time: moment.nullish().describe("After it no run begins."),
  enabled: z.boolean().nullish(),
  on_run_completed: onRunCompleted.nullish(),
});
export type CreateCron = z.infer<typeof createCron>;

export const updateCron = createCron.omit({ assistant_id: true }).partial();
export type UpdateCron = z.infer<typeof updateCron>;

const cronFilter = {
  assistant_id: identifier.nullish(),
  thread_id: identifier.nullish(),
  metadata: filter.nullish(),
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
  select: selectOf(cronField),
});
export type SearchCrons = z.infer<typeof searchCrons>;

export const countCrons = z.object(cronFilter);
export type CountCrons = z.infer<typeof countCrons>;
