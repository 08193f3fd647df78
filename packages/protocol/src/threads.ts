/** Threads: a conversation with its files. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { filter, identifier, ifExists, metadata, moment, page, selectOf, sortOrder } from "./ids.ts";
import { flag, listOf } from "./query.ts";

export const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
export type ThreadStatus = z.infer<typeof threadStatus>;

export const interrupt = z.object({
  id: z.string().optional(),
  value: z.unknown().describe("What is asked; for approvals `{actionRequests, reviewConfigs}`."),
  namespace: z
    .array(z.string())
    .optional()
    .describe("Of the graph that asks; empty or absent: the agent itself."),
});
export type Interrupt = z.infer<typeof interrupt>;

/** Fields that another server leaves out read as empty: no interrupts, no time. */
export const thread = z.object({
  thread_id: identifier,
  created_at: moment,
  updated_at: moment,
  state_updated_at: z.string().default(""),
  metadata,
  status: threadStatus,
  config: runConfig.optional(),
  values: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .describe("The state after the last run."),
  interrupts: z.record(z.string(), z.array(interrupt)).default({}).describe("By the task that waits."),
  error: z.unknown().nullish().describe("Why the last run failed."),
  open_tasks: z
    .number()
    .optional()
    .describe(
      "Background tasks of the thread that work, and mail that a run will be begun for; absent: none. Of one thread that is asked for, not in listings.",
    ),
  title: z.string().nullish().describe("As a client named it, else the first line of the first message."),
  archived: z.boolean().optional().describe("Put away; absent: not."),
  trashed_at: moment.optional().describe("In the trash since; absent: not."),
  removed_at: moment.optional().describe("When a thread in the trash is removed for good."),
  extracted: z.record(z.string(), z.unknown()).optional().describe("What `extract` of a search asked for."),
});
export type Thread = z.infer<typeof thread>;

export const threadTtl = z
  .union([
    z.number().positive(),
    z.object({ ttl: z.number().positive(), strategy: z.literal("delete").optional() }),
  ])
  .describe("Minutes after which the thread goes.");

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
  thread_id: identifier.nullish().describe("Absent: the server makes one."),
  metadata: metadata.nullish(),
  if_exists: ifExists.nullish(),
  ttl: threadTtl.nullish(),
  supersteps: z
    .array(superstep)
    .max(1000)
    .nullish()
    .describe(
      "A history, as if the named nodes had made it. Needs `engineCommands` and `metadata.graph_id`.",
    ),
});
export type CreateThread = z.infer<typeof createThread>;

export const updateThread = z.object({
  metadata: metadata.nullish().describe("Merged: a name that is not given stays."),
  ttl: threadTtl.nullish(),
  title: z.string().max(200).nullish().describe("Null: the first line of the first message."),
  archived: z.boolean().nullish(),
  trashed: z
    .boolean()
    .nullish()
    .describe(
      "True: into the trash, where it is removed after 30 days; its runs are cancelled. False: back.",
    ),
});
export type UpdateThread = z.infer<typeof updateThread>;

const threadFilter = {
  metadata: filter.nullish().describe("Those that have these names with these values."),
  values: filter.nullish().describe("Those whose state has these values."),
  status: threadStatus.nullish(),
  text: z.string().max(200).nullish().describe("Those with all of these words in their title or messages."),
  archived: z.boolean().nullish().describe("Absent: archived and others."),
  trashed: z.boolean().nullish().describe("True: those in the trash; otherwise the others."),
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
  "title",
  "archived",
  "trashed_at",
  "removed_at",
]);

export const searchThreads = z.object({
  ...page,
  ...threadFilter,
  ids: z.array(identifier).max(1000).nullish(),
  sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).nullish(),
  sort_order: sortOrder.nullish(),
  select: selectOf(threadField),
  extract: z
    .record(z.string().max(256), z.string().max(256))
    .refine((paths) => Object.keys(paths).length <= 32, "must have at most 32 paths")
    .nullish()
    .describe("Name in `extracted` → path such as `values.messages[-1].content`."),
});
export type SearchThreads = z.infer<typeof searchThreads>;

export const countThreads = z.object(threadFilter);
export type CountThreads = z.infer<typeof countThreads>;

export const pruneThreads = z.object({
  thread_ids: z.array(identifier).max(1000),
  strategy: z
    .enum(["delete", "keep_latest"])
    .default("delete")
    .describe("`keep_latest` keeps the thread and its newest state."),
});
export type PruneThreads = z.infer<typeof pruneThreads>;

export const prunedThreads = z.object({ pruned_count: z.number().int() });
export type PrunedThreads = z.infer<typeof prunedThreads>;

export const getThreadQuery = z.object({
  include: listOf(z.string().max(64)).optional().describe("Taken for other servers' sake, without effect."),
});

export const checkpoint = z.object({
  thread_id: identifier.nullish(),
  checkpoint_ns: z
    .string()
    .max(4096)
    .optional()
    .describe("Of a graph inside the graph; empty: the agent itself."),
  checkpoint_id: identifier.nullish(),
  checkpoint_map: z.record(z.string(), z.unknown()).nullish(),
});
export type Checkpoint = z.infer<typeof checkpoint>;

export const threadTask = z.object({
  id: z.string(),
  name: z.string(),
  error: z.string().nullish(),
  interrupts: z.array(interrupt),
  checkpoint: checkpoint.nullish().describe("Where the state of the graph that the task runs is found."),
  state: z.unknown().nullish().describe("With `subgraphs`: a state like the one it is in."),
  result: z.unknown().optional(),
  path: z.array(z.unknown()).optional(),
});
export type ThreadTask = z.infer<typeof threadTask>;

export const threadState = z.object({
  values: z.unknown(),
  next: z.array(z.string()).describe("What would run; empty: nothing until there is new input."),
  checkpoint: checkpoint.nullable().describe("Null for a thread that has no state yet."),
  metadata: metadata.nullish(),
  created_at: z.string().nullish(),
  parent_checkpoint: checkpoint.nullish(),
  tasks: z.array(threadTask),
});
export type ThreadState = z.infer<typeof threadState>;

export const threadStateQuery = z.object({
  subgraphs: flag.default(false).describe("The states of graphs that are at work inside, too."),
});

export const threadStateAt = z.object({ checkpoint, subgraphs: z.boolean().nullish() });
export type ThreadStateAt = z.infer<typeof threadStateAt>;

export const updateThreadState = z.object({
  values: z
    .unknown()
    .describe("Keys of the agent's input; messages of the user, or quoted ones of the assistant."),
  as_node: z.string().max(256).nullish().describe("Needs `engineCommands`."),
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
  before: z
    .union([identifier, z.object({ configurable: checkpoint }), checkpoint])
    .nullish()
    .describe("States older than this one."),
  metadata: filter.nullish(),
  checkpoint: checkpoint.nullish(),
});
export type ThreadHistory = z.infer<typeof threadHistory>;

export const threadStreamMode = z.enum(["run_modes", "lifecycle", "state_update"]);
export type ThreadStreamMode = z.infer<typeof threadStreamMode>;

export const threadStreamQuery = z.object({
  stream_mode: listOf(threadStreamMode)
    .default(["run_modes"])
    .describe(
      "`run_modes`: all events; `lifecycle`: begin and end of runs; `state_update`: `values` and `updates`.",
    ),
});
