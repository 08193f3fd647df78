/** Runs: one invocation of an assistant on a thread, or without one. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { identifier, metadata, moment } from "./ids.ts";
import { flag, listOf, pageQuery } from "./query.ts";
import { checkpoint } from "./threads.ts";

export const runStatus = z.enum(["pending", "running", "error", "success", "timeout", "interrupted"]);
export type RunStatus = z.infer<typeof runStatus>;

/** What happens to a run that meets another one on its thread. */
export const multitaskStrategy = z.enum(["reject", "enqueue", "interrupt", "rollback"]);
export type MultitaskStrategy = z.infer<typeof multitaskStrategy>;

export const run = z.object({
  run_id: identifier,
  thread_id: identifier,
  assistant_id: identifier,
  created_at: moment,
  updated_at: moment,
  status: runStatus,
  metadata,
  multitask_strategy: multitaskStrategy.nullish(),
});
export type Run = z.infer<typeof run>;

export const streamMode = z.enum([
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
]);
export type StreamMode = z.infer<typeof streamMode>;

/** `update` and `goto` are refused unless the server allows commands of the engine. */
export const command = z.object({
  resume: z.unknown().optional(),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
});
export type Command = z.infer<typeof command>;

const nodes = z.union([z.literal("*"), z.array(z.string().max(256)).max(256)]);

/** Without `stream_mode` it is `values`; without `multitask_strategy`, `enqueue`; without `on_disconnect`, `continue`. */
export const createRun = z.object({
  /** Of an assistant, or the name of an agent of the server. */
  assistant_id: identifier,
  /** Null goes on from where the thread stands. */
  input: z.unknown().optional(),
  command: command.nullish(),
  config: runConfig.nullish(),
  context: z.unknown().optional(),
  metadata: metadata.nullish(),
  stream_mode: z.union([streamMode, z.array(streamMode).max(16)]).nullish(),
  /** Events of graphs inside the graph too, their namespace behind the event's name. */
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  feedback_keys: z.array(z.string().max(256)).max(64).nullish(),
  interrupt_before: nodes.nullish(),
  interrupt_after: nodes.nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: identifier.nullish(),
  checkpoint_during: z.boolean().nullish(),
  durability: z.enum(["exit", "async", "sync"]).nullish(),
  webhook: z.string().max(2048).nullish(),
  multitask_strategy: multitaskStrategy.nullish(),
  /** `delete`, `keep`: what becomes of the thread of a run that was begun without one. */
  on_completion: z.enum(["delete", "keep", "complete", "continue"]).nullish(),
  on_disconnect: z.enum(["cancel", "continue"]).nullish(),
  after_seconds: z.number().min(0).max(31_536_000).nullish(),
  /** What a thread that is not there means. Default `reject`. */
  if_not_exists: z.enum(["create", "reject"]).nullish(),
  langsmith_tracer: z.unknown().optional(),
});
export type CreateRun = z.infer<typeof createRun>;

/** One SDK writes the runs of a batch with names like `streamMode`; both spellings are read. */
const spelledEitherWay = z.preprocess((given) => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const spelled: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (snake === name || !(snake in given)) spelled[snake] = value;
  }
  return { ...spelled };
}, createRun);

/** Runs without a thread, all begun or none. */
export const createRunBatch = z.array(spelledEitherWay).min(1).max(100);
export type CreateRunBatch = z.infer<typeof createRunBatch>;

/** The values at the end; `__error__` when the run failed, `__interrupt__` when it waits. */
export const runOutcome = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("The values at the end; `__error__` when the run failed, `__interrupt__` when it waits.");
export type RunOutcome = z.infer<typeof runOutcome>;

export const runField = z.enum([
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
]);

export const listRunsQuery = z.object({
  ...pageQuery,
  status: runStatus.optional(),
  select: listOf(runField).optional(),
});
export type ListRunsQuery = z.infer<typeof listRunsQuery>;

/** `interrupt` keeps what was done; `rollback` takes the thread back to before the run and removes the run. */
export const cancelAction = z.enum(["interrupt", "rollback"]);
export type CancelAction = z.infer<typeof cancelAction>;

export const cancelRunQuery = z.object({
  /** Answer when the run has ended. */
  wait: flag.default(false),
  action: cancelAction.default("interrupt"),
});

/** Some runs of a thread by id, or all of the caller's in a status. */
export const cancelRuns = z
  .object({
    thread_id: identifier.nullish(),
    run_ids: z.array(identifier).max(1000).nullish(),
    status: z.enum(["pending", "running", "all"]).nullish(),
  })
  .refine(
    ({ thread_id, run_ids, status }) => status != null || (thread_id != null && run_ids != null),
    "needs status, or thread_id and run_ids",
  );
export type CancelRuns = z.infer<typeof cancelRuns>;

export const cancelRunsQuery = z.object({ action: cancelAction.default("interrupt") });

export const joinRunQuery = z.object({ cancel_on_disconnect: flag.default(false) });

export const joinRunStreamQuery = z.object({
  cancel_on_disconnect: flag.default(false),
  /** Only these of the modes the run was begun with; absent: all of them. */
  stream_mode: listOf(streamMode).optional(),
});
