/** Threads: a conversation with its files. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { identifier, metadata, moment, page, sortOrder } from "./ids.ts";

export const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
export type ThreadStatus = z.infer<typeof threadStatus>;

export const interrupt = z.object({
  id: z.string().optional(),
  value: z.unknown(),
  namespace: z.array(z.string()).optional(),
});
export type Interrupt = z.infer<typeof interrupt>;

export const thread = z.object({
  thread_id: identifier,
  created_at: moment,
  updated_at: moment,
  state_updated_at: moment,
  metadata,
  status: threadStatus,
  config: runConfig.optional(),
  values: z.record(z.string(), z.unknown()).nullable(),
  /** By the task that waits. */
  interrupts: z.record(z.string(), z.array(interrupt)),
  error: z.unknown().nullish(),
});
export type Thread = z.infer<typeof thread>;

export const createThread = z.object({
  thread_id: identifier.optional(),
  metadata: metadata.nullish(),
  if_exists: z.enum(["raise", "do_nothing"]).optional(),
  /** Minutes after which the thread goes. */
  ttl: z
    .union([
      z.number().positive(),
      z.object({ ttl: z.number().positive(), strategy: z.literal("delete").optional() }),
    ])
    .nullish(),
  supersteps: z.array(z.unknown()).optional(),
});
export type CreateThread = z.infer<typeof createThread>;

export const searchThreads = z.object({
  ...page,
  ids: z.array(identifier).nullish(),
  metadata: metadata.nullish(),
  values: z.record(z.string(), z.unknown()).nullish(),
  status: threadStatus.nullish(),
  sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).nullish(),
  sort_order: sortOrder.nullish(),
  select: z.array(z.string()).nullish(),
  extract: z.record(z.string(), z.string()).nullish(),
});
export type SearchThreads = z.infer<typeof searchThreads>;

export const checkpoint = z.object({
  thread_id: z.string().optional(),
  checkpoint_ns: z.string().optional(),
  checkpoint_id: z.string().nullish(),
  checkpoint_map: z.record(z.string(), z.unknown()).nullish(),
});
export type Checkpoint = z.infer<typeof checkpoint>;

export const threadState = z.object({
  values: z.unknown(),
  next: z.array(z.string()),
  checkpoint,
  metadata: metadata.nullish(),
  created_at: z.string().nullish(),
  parent_checkpoint: checkpoint.nullish(),
  tasks: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      error: z.string().nullish(),
      interrupts: z.array(interrupt),
      checkpoint: checkpoint.nullish(),
      state: z.unknown().nullish(),
      result: z.unknown().optional(),
    }),
  ),
});
export type ThreadState = z.infer<typeof threadState>;

export const updateThreadState = z.object({
  values: z.unknown(),
  as_node: z.string().nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: z.string().nullish(),
});
export type UpdateThreadState = z.infer<typeof updateThreadState>;
