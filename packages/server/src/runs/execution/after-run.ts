/** Steps after the end of a run: webhooks, clean-up, and a new run for mail that was not read. */

import type { RunClaim, ServerRecords } from "../../records/records.ts";
import { callbackOf } from "../../records/tables/completions.ts";
import { hasMail, type Mailbox } from "../mail/mailbox.ts";
import { isMailRun } from "../mail/steering.ts";
import type { DueWork } from "../upkeep/due-work.ts";
import type { HookSender } from "../webhooks/hook-sender.ts";
import type { RunEnd } from "./run-end.ts";

export interface AfterRunParts {
  readonly records: ServerRecords;
  readonly hooks: Pick<HookSender, "kick">;
  readonly mailbox: Pick<Mailbox, "wake" | "attendParent">;
  readonly completions: Pick<DueWork, "kick">;
}

export type FinishedRun = RunEnd & { readonly kind: "finished" };

/** Milliseconds that the thread of a stateless run stays readable: for waiting clients and readers that reconnect. */
const READABLE_MS = 300_000;

export function afterRun({ records, hooks, mailbox, completions }: AfterRunParts) {
  return async ({ run, isTask }: RunClaim, end: FinishedRun): Promise<void> => {
    if (run.request.webhook) hooks.kick();
    if (callbackOf(run.request) || isMailRun(run)) completions.kick();
    if (isTask) await mailbox.attendParent(run.owner, run.thread_id);
    if (end.rolledBack) await records.runs.delete(run.owner, run.run_id);
    if (run.request.on_completion === "delete") {
      await records.threads.patch(run.owner, run.thread_id, { expiresAt: Date.now() + READABLE_MS });
      return;
    }
    // A thread does not continue by itself after it was interrupted or while it waits for a person; `wake` decides
    // after a failure.
    if (end.status !== "interrupted" && (await hasMail(records, run.thread_id)))
      await mailbox.wake(run.owner, run.thread_id, run.assistant_id);
  };
}
