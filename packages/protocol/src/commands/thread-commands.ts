/** The thread-centric protocol of LangChain's newer clients: commands in one request each, and events by channel. */
import { z } from "zod";
import { runConfig } from "../assistants.ts";
import { identifier } from "../ids.ts";
import { multitaskStrategy } from "../runs.ts";

export const threadCommand = z.object({
  id: z.number().int().min(0).describe("Comes back with the answer."),
  method: z
    .string()
    .min(1)
    .max(64)
    .describe("`run.start`, `input.respond`, `input.inject`, `state.get`, or `state.fork`."),
  params: z.record(z.string(), z.unknown()).nullish(),
});
export type ThreadCommand = z.infer<typeof threadCommand>;

export const threadCommandAnswer = z
  .object({
    type: z.enum(["success", "error"]),
    id: z.number().int(),
    result: z.record(z.string(), z.unknown()).optional().describe("Of a success."),
    error: z
      .enum([
        "invalid_argument",
        "unknown_command",
        "no_such_run",
        "no_such_interrupt",
        "permission_denied",
        "not_supported",
      ])
      .optional(),
    message: z.string().optional().describe("Says why, of an error."),
  })
  .describe("Also an error has the status 200: it belongs to the command.");
export type ThreadCommandAnswer = z.infer<typeof threadCommandAnswer>;

const metadata = z.record(z.string(), z.unknown());
const namespace = z.array(z.string().max(256)).max(32);

/** Parameters of `run.start`. */
export const startCommand = z.object({
  assistant_id: identifier,
  input: z.unknown().optional(),
  config: runConfig.nullish(),
  metadata: metadata.nullish(),
  multitaskStrategy: multitaskStrategy.nullish(),
});

const answered = z.object({ interrupt_id: z.string().min(1).max(256), response: z.unknown() });
const resumed = {
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
  config: runConfig.nullish(),
  metadata: metadata.nullish(),
};

/** Parameters of `input.respond`: one answer, or one for each of several interrupts. */
export const respondCommand = z.union([
  z.object({ responses: z.array(answered).min(1).max(256), ...resumed }),
  answered.extend(resumed).transform(({ interrupt_id, response, ...rest }) => ({
    responses: [{ interrupt_id, response }],
    ...rest,
  })),
]);

/** Parameters of `input.inject`. A role other than `user` is refused. */
export const injectCommand = z.object({
  namespace: namespace.default([]),
  message: z.object({ role: z.string().max(64), content: z.string().min(1) }),
});

/** Parameters of `state.get`. */
export const stateCommand = z.object({ keys: z.array(z.string().max(256)).max(256).optional() });

/** Parameters of `state.fork`. */
export const forkCommand = z.object({
  checkpoint_id: identifier,
  input: z.unknown().optional(),
  config: runConfig.nullish(),
});

export const EVENT_CHANNELS = [
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "input",
  "checkpoints",
  "tasks",
  "custom",
] as const;

export const threadEvents = z.object({
  channels: z
    .array(z.union([z.enum(EVENT_CHANNELS), z.string().regex(/^custom:.{1,120}$/)]))
    .min(1)
    .max(64),
  namespaces: z.array(namespace).max(256).nullish().describe("Only events at or below one of these places."),
  depth: z.number().int().min(0).max(64).nullish().describe("At most so many levels below."),
  since: z
    .number()
    .int()
    .min(0)
    .nullish()
    .describe("Only events behind the one with this `seq`. Absent: from the beginning of the newest run."),
});
export type ThreadEvents = z.infer<typeof threadEvents>;
