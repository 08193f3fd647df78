/** Changes that threads made to files: taking them back, making them again, their authors, and two threads side by side. */
import { z } from "zod";
import { identifier } from "./ids.ts";
import { wholeNumber } from "./query.ts";
import { filePath } from "./thread-work.ts";
import { threadStatus } from "./threads.ts";
import { usageAmount } from "./usage.ts";

const dryRun = z.boolean().optional().describe("Only says what would be done.");

export const rewindThread = z.object({
  checkpoint_id: identifier.describe("Messages and files become what they were at this checkpoint."),
  files: z.boolean().optional().describe("False: only messages go back, files on disk stay. Default true."),
  dry_run: dryRun,
});
export type RewindThread = z.infer<typeof rewindThread>;

export const copyThreadQuery = z.object({
  checkpoint_id: identifier
    .optional()
    .describe("The copy begins with messages and files of this checkpoint; files on disk stay as they are."),
});

export const restoreThread = z.object({
  path: filePath.optional().describe("Only this file, or what is in this directory."),
  call: identifier.optional().describe("Only this tool call, or this restore."),
  agent: identifier.optional().describe("Only this subagent, by its name or the beginning of its task's id."),
  checkpoint_id: identifier.optional().describe("Only the step that ended with this checkpoint."),
  since: identifier.optional().describe("Everything behind this checkpoint."),
  dry_run: dryRun,
});
export type RestoreThread = z.infer<typeof restoreThread>;

const outside = z.string().optional().describe("`outside`: not in the thread's state.");

const filesReport = z.object({
  restored: z.array(
    z.object({
      path: z.string(),
      place: outside,
      kind: z.enum(["created", "changed", "deleted"]),
      patch: z.string().nullish().describe("A unified diff; null for what is no text."),
      detail: z.string().optional().describe("What is there, where it is no file."),
    }),
  ),
  conflicts: z
    .array(
      z.object({
        path: z.string(),
        place: outside,
        reason: z.string(),
        kept_at: z.string().optional().describe("Where the content that was wanted is put."),
      }),
    )
    .describe("Files that somebody else changed; they stay."),
  not_covered: z.array(
    z.object({ path: z.string().optional(), command: z.string().optional(), reason: z.string() }),
  ),
});

export const rewoundThread = filesReport.extend({
  checkpoint_id: identifier.nullish().describe("The new newest checkpoint; null with `dry_run`."),
  previous_id: identifier.describe("Rewinding to it undoes the rewind."),
});
export type RewoundThread = z.infer<typeof rewoundThread>;

export const restoredThread = filesReport.extend({
  call: z
    .string()
    .nullish()
    .describe("Give it as `call` to undo the restore; null where nothing was written."),
});
export type RestoredThread = z.infer<typeof restoredThread>;

export const threadStepsQuery = z.object({
  skip: wholeNumber(0, 1_000_000_000).default(0).describe("`next` of the page before."),
});

export const threadSteps = z.object({
  steps: z
    .array(
      z.object({
        step: z.number().int().describe("LangGraph's number; after a rewind one number may be there twice."),
        checkpoint_id: identifier.describe("The step ended with it. The one before is its beginning."),
        at: z.string(),
        source: z.string().describe("`input`, `loop`, `update` (a person or program) or `fork`."),
        changed_files: z.array(z.string()),
        calls: z.array(z.string()).describe("Tool calls that changed files outside the thread's state."),
        summary: z.string().describe("First words of the message that the step added."),
        message_id: z.string().optional().describe("Id of that message."),
      }),
    )
    .describe("The way that the thread took, the newest last."),
  next: z.number().int().optional().describe("Hand it back as `skip` for the next page; absent on the last."),
});
export type ThreadSteps = z.infer<typeof threadSteps>;

export const blameQuery = z.object({ path: filePath });

export const fileBlame = z.object({
  path: z.string(),
  lines: z.array(
    z.object({
      line: z.number().int().min(1),
      text: z.string(),
      by: z
        .object({
          step: z.number().int().optional(),
          checkpoint_id: identifier.describe("The step began here."),
          at: z.string(),
          call: z.string().optional(),
          agent: z.string().optional().describe("The subagent; absent: the agent itself."),
          task: z.string().optional(),
          command: z.string().optional().describe("Absent: a file tool wrote the line."),
          prompt: z.string().optional().describe("First words of the message that led there."),
          is_restore: z.boolean().optional(),
        })
        .optional()
        .describe("Absent: the line is not of the thread."),
    }),
  ),
});
export type FileBlame = z.infer<typeof fileBlame>;

export const adoptThread = z.object({ dry_run: dryRun });

const comparedThread = z.object({
  thread_id: identifier,
  status: threadStatus,
  answer: z.string().describe("The last answer."),
  steps: z.number().int(),
  model: z.string().optional(),
  usage: usageAmount.describe("Of the runs of this thread alone. A copy begins with none."),
  commands: z
    .array(
      z.object({
        command: z.string(),
        exit_code: z.number().int().nullable().describe("Null: not known, or stopped."),
        is_check: z.boolean().optional().describe("It tested the finished fork."),
      }),
    )
    .describe("Commands of the thread's own agent, the newest last, at most 100."),
  changes: z
    .array(
      z.object({
        path: z.string(),
        place: outside,
        kind: z.enum(["created", "changed", "deleted"]),
        added: z.number().int().nullable().describe("Lines; null for what is no text."),
        removed: z.number().int().nullable(),
      }),
    )
    .describe("From the first step to the last, at most 1,000. `files/diff` has the lines."),
});

export const comparedThreads = z.object({ threads: z.array(comparedThread).length(2) });
export type ComparedThreads = z.infer<typeof comparedThreads>;
