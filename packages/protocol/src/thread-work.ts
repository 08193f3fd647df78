/** What we add to threads: messages while a run goes on, interrupts by id, files. */
import { z } from "zod";
import { identifier } from "./ids.ts";
import { multitaskStrategy } from "./runs.ts";
import { interrupt } from "./threads.ts";

/** `steer` is read before the next model call of the run; `follow-up` begins a turn when the run has ended. */
export const mailKind = z.enum(["steer", "follow-up"]);
export type MailKind = z.infer<typeof mailKind>;

export const postMessage = z.object({
  kind: mailKind,
  /** Text, or content blocks; it becomes a message of the user. */
  content: z.union([z.string().min(1), z.array(z.record(z.string(), z.unknown())).min(1).max(256)]),
  /** The message's id; one that is known already is not delivered again. Absent: the server makes one. */
  id: identifier.optional(),
  /** Who works on a follow-up when the thread is at rest. Absent: the assistant of its last run. */
  assistant_id: identifier.optional(),
});
export type PostMessage = z.infer<typeof postMessage>;

export const postedMessage = z.object({
  id: identifier,
  kind: mailKind,
  /** The run that will read it, if one is known. */
  run_id: identifier.nullish(),
});
export type PostedMessage = z.infer<typeof postedMessage>;

export const waitingInterrupt = interrupt.extend({ id: z.string(), task: z.string().optional() });
export type WaitingInterrupt = z.infer<typeof waitingInterrupt>;

export const waitingInterrupts = z.array(waitingInterrupt);

/** The answer to one interrupt; others of the thread go on waiting. */
export const answerInterrupt = z.object({
  value: z.unknown(),
  /** Absent: the assistant of the thread's last run. */
  assistant_id: identifier.optional(),
  multitask_strategy: multitaskStrategy.optional(),
});
export type AnswerInterrupt = z.infer<typeof answerInterrupt>;

/** Absolute, as the agent writes it. */
export const filePath = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^\//, "must begin with '/'")
  .refine((path) => !/[\0\\]/.test(path), "must not contain NUL or '\\'")
  .refine(
    (path) => !path.split("/").some((part) => part === ".." || part === "."),
    "must not contain '.' or '..'",
  );

export const listFilesQuery = z.object({
  /** As of this checkpoint; absent: now. */
  checkpoint_id: identifier.optional(),
  /** Only what lies below. */
  path: filePath.optional(),
});

export const threadFiles = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      /** Bytes. */
      size: z.number().int().min(0),
      modified_at: z.string().nullish(),
    }),
  ),
});
export type ThreadFiles = z.infer<typeof threadFiles>;

export const readFileQuery = z.object({ path: filePath, checkpoint_id: identifier.optional() });

export const diffFilesQuery = z.object({
  /** What changed since this checkpoint; absent: what its step changed. */
  from: identifier.optional(),
  /** Until this one; absent: now. */
  to: identifier.optional(),
});

export const fileChanges = z.object({
  changes: z.array(
    z.object({
      path: z.string(),
      /** The tree of files outside the thread's state; absent: in the state. */
      place: z.string().optional(),
      kind: z.enum(["created", "changed", "deleted"]),
      /** A unified diff; null for what is no text. */
      patch: z.string().nullish(),
    }),
  ),
});
export type FileChanges = z.infer<typeof fileChanges>;
