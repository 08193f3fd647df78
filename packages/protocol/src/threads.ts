/** Threads: a conversation with its files. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { identifier, ifExists, metadata, moment, page, sortOrder } from "./ids.ts";
import { flag, listOf } from "./query.ts";

export const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
export type ThreadStatus = z.infer<typeof threadStatus>;

export const interrupt = z.object({
  id: z.string().optional(),
  value: z.unknown(),
  /** Of the graph that asks; empty or absent: the agent itself. */
  namespace: z.array(z.string()).optional(),
});
export type Interrupt = z.infer<typeof interrupt>;

/** What another server leaves out reads as nothing: no interrupts, no time. */
export const thread = z.object({
  thread_id: identifier,
  created_at: moment,
  updated_at: moment,
  state_updated_at: z.string().default(""),
  metadata,
  status: threadStatus,
  config: runConfig.optional(),
  values: z.record(z.string(), z.unknown()).nullable().default(null),
  /** By the task that waits. */
  interrupts: z.record(z.string(), z.array(interrupt)).default({}),
  error: z.unknown().nullish(),
  /** What `extract` of a search asked for. */
  extracted: z.record(z.string(), z.unknown()).optional(),
});
export type Thread = z.infer<typeof thread>;

/** Minutes after which the thread goes. */
export const threadTtl = z.union([
  z.number().positive(),
  z.object({ ttl: z.number().positive(), strategy: z.literal("delete").optional() }),
]);

/** One step of a history given at creation: updates, each as if a node had made it. */
export const superstep = z.object({
  updates: z
    .array(
      z.object({
        values: z.unknown().optional(),
        command: z.unknown().optional(),
        as_node: z.string().max(256),
      }),
    )
    .max(100),
});
export type Superstep = z.infer<typeof superstep>;

export const createThread = z.object({
  thread_id: identifier.nullish(),
  metadata: metadata.nullish(),
  if_exists: ifExists.nullish(),
  ttl: threadTtl.nullish(),
  supersteps: z.array(superstep).max(1000).nullish(),
});
export type CreateThread = z.infer<typeof createThread>;

/** Metadata are merged: a name that is not given stays. With `Prefer: return=minimal` the answer is 204. */
export const updateThread = z.object({ metadata: metadata.nullish(), ttl: threadTtl.nullish() });
export type UpdateThread = z.infer<typeof updateThread>;

const threadFilter = {
  metadata: metadata.nullish(),
  values: z.record(z.string(), z.unknown()).nullish(),
  status: threadStatus.nullish(),
};

export const threadField = z.enum([
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "context",
  "status",
  "values",
  "interrupts",
]);

export const searchThreads = z.object({
  ...page,
  ...threadFilter,
  ids: z.array(identifier).max(1000).nullish(),
  sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).nullish(),
  sort_order: sortOrder.nullish(),
  /** Only these fields are in the answer. */
  select: z.array(threadField).nullish(),
  /** Name in `extracted` → path such as `values.messages[-1].content`. */
  extract: z.record(z.string(), z.string().max(256)).nullish(),
});
export type SearchThreads = z.infer<typeof searchThreads>;

export const countThreads = z.object(threadFilter);
export type CountThreads = z.infer<typeof countThreads>;

/** `keep_latest` keeps the thread and its newest state. */
export const pruneThreads = z.object({
  thread_ids: z.array(identifier).max(1000),
  strategy: z.enum(["delete", "keep_latest"]).default("delete"),
});
export type PruneThreads = z.infer<typeof pruneThreads>;

export const prunedThreads = z.object({ pruned_count: z.number().int() });
export type PrunedThreads = z.infer<typeof prunedThreads>;

/** `include`: `ttl` is understood; other words are not an error. */
export const getThreadQuery = z.object({ include: listOf(z.string().max(64)).optional() });

export const checkpoint = z.object({
  thread_id: identifier.nullish(),
  /** Of a graph inside the graph; empty: the agent itself. */
  checkpoint_ns: z.string().max(4096).optional(),
  checkpoint_id: identifier.nullish(),
  checkpoint_map: z.record(z.string(), z.unknown()).nullish(),
});
export type Checkpoint = z.infer<typeof checkpoint>;

export const threadTask = z.object({
  id: z.string(),
  name: z.string(),
  error: z.string().nullish(),
  interrupts: z.array(interrupt),
  /** Where the state of the graph that the task runs is found. */
  checkpoint: checkpoint.nullish(),
  /** With `subgraphs`: a state like the one it is in. */
  state: z.unknown().nullish(),
  result: z.unknown().optional(),
  path: z.array(z.unknown()).optional(),
});
export type ThreadTask = z.infer<typeof threadTask>;

export const threadState = z.object({
  values: z.unknown(),
  /** What would run; empty: nothing until there is new input. */
  next: z.array(z.string()),
  checkpoint,
  metadata: metadata.nullish(),
  created_at: z.string().nullish(),
  parent_checkpoint: checkpoint.nullish(),
  tasks: z.array(threadTask),
});
export type ThreadState = z.infer<typeof threadState>;

export const threadStateQuery = z.object({ subgraphs: flag.default(false) });

export const threadStateAt = z.object({ checkpoint, subgraphs: z.boolean().nullish() });
export type ThreadStateAt = z.infer<typeof threadStateAt>;

export const updateThreadState = z.object({
  values: z.unknown(),
  as_node: z.string().max(256).nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: identifier.nullish(),
});
export type UpdateThreadState = z.infer<typeof updateThreadState>;

/** Where the thread stands after the update, in both of the forms clients look for. */
export const updatedThreadState = z.object({
  checkpoint: checkpoint.optional(),
  configurable: z.record(z.string(), z.unknown()).optional(),
});
export type UpdatedThreadState = z.infer<typeof updatedThreadState>;

export const patchThreadState = z.object({ metadata });
export type PatchThreadState = z.infer<typeof patchThreadState>;

export const threadHistory = z.object({
  limit: page.limit,
  /** States older than this one. */
  before: z.union([identifier, z.object({ configurable: checkpoint }), checkpoint]).nullish(),
  metadata: metadata.nullish(),
  checkpoint: checkpoint.nullish(),
});
export type ThreadHistory = z.infer<typeof threadHistory>;

export const threadStreamMode = z.enum(["run_modes", "lifecycle", "state_update"]);
export type ThreadStreamMode = z.infer<typeof threadStreamMode>;

export const threadStreamQuery = z.object({ stream_mode: listOf(threadStreamMode).default(["run_modes"]) });
