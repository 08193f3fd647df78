/** Additions to threads: messages while a run goes on, interrupts by id, files. */
import { z } from "zod";
import { identifier } from "./ids.ts";
import { wholeNumber } from "./query.ts";
import { multitaskStrategy } from "./runs.ts";
import { interrupt } from "./threads.ts";

export const mailKind = z
  .enum(["steer", "follow-up"])
  .describe(
    "`steer` is read before the next model call of the run; `follow-up` begins a turn when the run has ended.",
  );
export type MailKind = z.infer<typeof mailKind>;

export const postMessage = z.object({
  kind: mailKind,
  content: z
    .union([z.string().min(1), z.array(z.record(z.string(), z.unknown())).min(1).max(256)])
    .describe("Text, or content blocks; it becomes a message of the user."),
  id: identifier
    .optional()
    .describe(
      "The message's id; one that is known already is not delivered again. Absent: the server makes one.",
    ),
  assistant_id: identifier
    .optional()
    .describe("Who works on a follow-up when the thread is at rest. Absent: the assistant of its last run."),
});
export type PostMessage = z.infer<typeof postMessage>;

export const postedMessage = z.object({
  id: identifier,
  kind: mailKind,
  run_id: identifier.nullish().describe("The run that will read it, if one is known."),
});
export type PostedMessage = z.infer<typeof postedMessage>;

export const waitingInterrupt = interrupt.extend({ id: z.string(), task: z.string().optional() });
export type WaitingInterrupt = z.infer<typeof waitingInterrupt>;

export const waitingInterrupts = z.array(waitingInterrupt);

export const allowRule = z.object({
  tool: z.string().min(1).max(200),
  prefix: z
    .array(z.string().min(1).max(1_000))
    .min(1)
    .max(20)
    .optional()
    .describe("Words that a plain command begins with; absent: every call of the tool."),
});
export type AllowRule = z.infer<typeof allowRule>;

/** The answer to one interrupt; others of the thread go on waiting. */
export const answerInterrupt = z.object({
  value: z.unknown().describe('The answer; for approvals `{decisions: [{type: "approve"}]}`.'),
  assistant_id: identifier.optional().describe("Absent: the assistant of the thread's last run."),
  multitask_strategy: multitaskStrategy.optional(),
  allow: z
    .array(allowRule.extend({ scope: z.enum(["thread", "project"]) }))
    .max(20)
    .optional()
    .describe(
      "Calls that run without a question: in this thread, or in the project from now on. The agent must enforce it, see `choices` of its facts.",
    ),
});
export type AnswerInterrupt = z.infer<typeof answerInterrupt>;

const isPlain = (path: string): boolean =>
  !/[\0\\]/.test(path) && !path.split("/").some((part) => part === ".." || part === ".");

/** The path as a second decoding would read it. */
const decodedAgain = (path: string): string =>
  path.replace(/%(2e|2f|5c|00)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

export const filePath = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^\//, "must begin with '/'")
  .refine(
    (path) => isPlain(path) && isPlain(decodedAgain(path)),
    "must not contain '.', '..', NUL or '\\' in any spelling",
  )
  .describe("Absolute, as the agent writes it.");

export const listFilesQuery = z.object({
  checkpoint_id: identifier.optional().describe("As of this checkpoint; absent: now."),
  path: filePath.optional().describe("Only what lies below."),
  after: z.string().max(65_536).optional().describe("`next` of the page before."),
});

export const threadFiles = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      size: z.number().int().min(0).describe("Bytes."),
      modified_at: z.string().nullish(),
    }),
  ),
  next: z.string().optional().describe("Hand it back as `after` for the next page; absent on the last."),
});
export type ThreadFiles = z.infer<typeof threadFiles>;

export const readFileQuery = z.object({ path: filePath, checkpoint_id: identifier.optional() });

export const diffFilesQuery = z.object({
  from: identifier.optional().describe("What changed since this checkpoint; absent: what its step changed."),
  to: identifier.optional().describe("Until this one; absent: now."),
  path: filePath.optional().describe("Only this file."),
  skip: wholeNumber(0, 1_000_000_000).default(0).describe("`next` of the page before."),
});

export const fileChanges = z.object({
  changes: z.array(
    z.object({
      path: z.string(),
      place: z
        .string()
        .optional()
        .describe("The tree of files outside the thread's state; absent: in the state."),
      kind: z.enum(["created", "changed", "deleted"]),
      patch: z.string().nullish().describe("A unified diff; null for what is no text."),
    }),
  ),
  next: z.number().int().optional().describe("Hand it back as `skip` for the next page; absent on the last."),
});
export type FileChanges = z.infer<typeof fileChanges>;
