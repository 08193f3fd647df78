/** Runs: one invocation of an assistant on a thread, or without one. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { identifier, metadata, moment } from "./ids.ts";
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
]);
export type StreamMode = z.infer<typeof streamMode>;

/** `update` and `goto` are refused unless the server allows commands of the engine. */
export const command = z.object({
  resume: z.unknown().optional(),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
});
export type Command = z.infer<typeof command>;

const nodes = z.union([z.literal("*"), z.array(z.string())]);

export const createRun = z.object({
  assistant_id: identifier,
  input: z.unknown().optional(),
  command: command.nullish(),
  config: runConfig.nullish(),
  context: z.unknown().optional(),
  metadata: metadata.nullish(),
  stream_mode: z.union([streamMode, z.array(streamMode)]).nullish(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  feedback_keys: z.array(z.string()).nullish(),
  interrupt_before: nodes.nullish(),
  interrupt_after: nodes.nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: z.string().nullish(),
  checkpoint_during: z.boolean().nullish(),
  durability: z.enum(["exit", "async", "sync"]).nullish(),
  webhook: z.string().nullish(),
  multitask_strategy: multitaskStrategy.nullish(),
  on_completion: z.enum(["delete", "keep", "complete", "continue"]).nullish(),
  on_disconnect: z.enum(["cancel", "continue"]).nullish(),
  after_seconds: z.number().min(0).max(31_536_000).nullish(),
  if_not_exists: z.enum(["create", "reject"]).nullish(),
  langsmith_tracer: z.unknown().optional(),
});
export type CreateRun = z.infer<typeof createRun>;
