/** Runs: one invocation of an assistant on a thread, or without one. */
import { z } from "zod";
import { runConfig } from "./assistants.ts";
import { identifier, metadata, moment } from "./ids.ts";
import { flag, listOf, pageQuery } from "./query.ts";
import { RUN_STATUSES } from "./run-status.ts";
import { checkpoint } from "./threads.ts";

export const runStatus = z.enum(RUN_STATUSES);

export const multitaskStrategy = z
  .enum(["reject", "enqueue", "interrupt", "rollback"])
  .describe(
    "What happens to a run that meets another one on its thread: it is refused, waits, ends the other and keeps what that did, or undoes it. Default `enqueue`.",
  );
export type MultitaskStrategy = z.infer<typeof multitaskStrategy>;

/** How the agent ended the run. A run with the status `success` came to an end, but may not have done its task. */
export const agentOutcome = z
  .looseObject({
    kind: z
      .string()
      .describe(
        "`done`, `length`, `content_filter`, `refusal`, `empty`, `budget`, `loop` or `unverified`; other agents may have other words.",
      ),
    detail: z.string().optional().describe("The reason, for people."),
  })
  .describe("How the agent ended the run: a run can be a `success` and still be stopped by its budget.");
export type AgentOutcome = z.infer<typeof agentOutcome>;

export const run = z.object({
  run_id: identifier,
  thread_id: identifier,
  assistant_id: identifier,
  created_at: moment,
  updated_at: moment,
  status: runStatus,
  metadata,
  multitask_strategy: multitaskStrategy.nullish(),
  outcome: agentOutcome.nullish().describe("Absent until the run has ended, and for agents that tell none."),
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

/** LangGraph's RemoteGraph sends every field of a command. No node to go to and no update are left out. */
function withoutEmptyParts(given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const { update, goto, ...command } = given as { update?: unknown; goto?: unknown };
  const goesNowhere = goto === null || (Array.isArray(goto) && goto.length === 0);
  return {
    ...command,
    ...(update != null && { update }),
    ...(goto !== undefined && !goesNowhere && { goto }),
  };
}

export const command = z.preprocess(
  withoutEmptyParts,
  z.object({
    resume: z
      .unknown()
      .optional()
      .describe("The answer to what waits; several by the ids of their interrupts."),
    update: z.unknown().optional().describe("Needs `engineCommands`; null counts as absent."),
    goto: z.unknown().optional().describe("Needs `engineCommands`; an empty list counts as absent."),
  }),
);
export type Command = z.infer<typeof command>;

const nodes = z.union([z.literal("*"), z.array(z.string().max(256)).max(256)]);

export const createRun = z.object({
  assistant_id: identifier.describe("Of an assistant, or the name of an agent of the server."),
  input: z
    .unknown()
    .optional()
    .describe(
      'What the agent takes, such as `{messages: [{role: "user", content}]}`; null goes on from where the thread stands.',
    ),
  command: command.nullish().describe("Instead of input."),
  config: runConfig.nullish(),
  context: z.unknown().optional().describe("The run's `context`, as the agent's `contextSchema` has it."),
  metadata: metadata.nullish(),
  stream_mode: z
    .union([streamMode, z.array(streamMode).max(16)])
    .nullish()
    .describe("The events that all readers can get. Default `values`."),
  stream_subgraphs: z
    .boolean()
    .nullish()
    .describe("Events of graphs inside the graph too, their namespace behind the event's name."),
  stream_resumable: z.boolean().nullish().describe("Without effect: every stream is."),
  feedback_keys: z.array(z.string().max(256)).max(64).nullish().describe("Without effect."),
  interrupt_before: nodes.nullish().describe("Stops before these nodes."),
  interrupt_after: nodes.nullish().describe("Stops after these nodes."),
  checkpoint: checkpoint.nullish().describe("Where to go on from, instead of the newest state."),
  checkpoint_id: identifier.nullish().describe("The same, by its id."),
  checkpoint_during: z.boolean().nullish().describe('`false` is `durability: "exit"`.'),
  durability: z
    .enum(["exit", "async", "sync"])
    .nullish()
    .describe("When steps are stored: before the next (`sync`, the default), beside it, or at the end."),
  webhook: z.string().max(2048).nullish().describe("A public URL that is called when the run has ended."),
  multitask_strategy: multitaskStrategy.nullish(),
  on_completion: z
    .enum(["delete", "keep", "complete", "continue"])
    .nullish()
    .describe("What becomes of the thread of a run that was begun without one. Default `delete`."),
  on_disconnect: z
    .enum(["cancel", "continue"])
    .nullish()
    .describe("What becomes of the run when its reader leaves. Default `continue`."),
  after_seconds: z.number().min(0).max(31_536_000).nullish().describe("Begin so much later."),
  if_not_exists: z
    .enum(["create", "reject"])
    .nullish()
    .describe("What a thread that is not there means. Default `reject`."),
  langsmith_tracer: z.unknown().optional().describe("Without effect."),
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
  "outcome",
]);

export const listRunsQuery = z.object({
  ...pageQuery,
  status: runStatus.optional(),
  select: listOf(runField).optional(),
});
export type ListRunsQuery = z.infer<typeof listRunsQuery>;

export const cancelAction = z
  .enum(["interrupt", "rollback"])
  .describe(
    "`interrupt` keeps what was done; `rollback` takes the thread back to before the run and removes the run.",
  );
export type CancelAction = z.infer<typeof cancelAction>;

export const cancelRunQuery = z.object({
  wait: flag.default(false).describe("Answer when the run has ended."),
  action: cancelAction.default("interrupt"),
  tasks: flag
    .optional()
    .describe("Also everything else on its thread: other runs, and background tasks with all below them."),
});

/** Some runs of a thread by id, or all of the caller's in a status. */
export const cancelRuns = z
  .object({
    thread_id: identifier.nullish(),
    run_ids: z.array(identifier).max(1000).nullish().describe("Runs of `thread_id`."),
    status: z
      .enum(["pending", "running", "all"])
      .nullish()
      .describe("Instead of `run_ids`: all in this status, of `thread_id` or of all threads."),
  })
  .refine(
    ({ thread_id, run_ids, status }) => status != null || (thread_id != null && run_ids != null),
    "needs status, or thread_id and run_ids",
  );
export type CancelRuns = z.infer<typeof cancelRuns>;

export const cancelRunsQuery = z.object({ action: cancelAction.default("interrupt") });

const cancelOnDisconnect = flag.default(false).describe("The run ends when this reader leaves.");

export const joinRunQuery = z.object({ cancel_on_disconnect: cancelOnDisconnect });

export const joinRunStreamQuery = z.object({
  cancel_on_disconnect: cancelOnDisconnect,
  stream_mode: listOf(streamMode)
    .optional()
    .describe("Only these of the modes the run was begun with; absent: all of them."),
});
