/** What follows the end of a run: it is told, it is tidied up, and mail it did not read begins another. */
import type { RunRecord, ServerRecords } from "../records/records.ts";
import type { RunEnd } from "./execution.ts";
import { hasMail, type Mailbox } from "./mailbox.ts";
import type { Webhooks } from "./webhooks.ts";
import type { WireJson } from "./wire-json.ts";

export interface AfterRunParts {
  readonly records: ServerRecords;
  readonly webhooks: Webhooks;
  readonly wireJson: WireJson;
  readonly mailbox: Pick<Mailbox, "wake">;
  readonly onError: (error: unknown) => void;
  /** Fires when the process goes: what is being sent is given up. */
  readonly closing: AbortSignal;
}

export type FinishedRun = RunEnd & { readonly kind: "finished" };

/** How long the thread of a run without one can still be read: by who waits, and by readers that come back. */
const READABLE_MS = 300_000;

export function afterRun({ records, webhooks, wireJson, mailbox, onError, closing }: AfterRunParts) {
  const sending = new Set<Promise<unknown>>();
  const tell = (run: RunRecord, end: FinishedRun): void => {
    const { webhook } = run.request;
    if (!webhook) return;
    const { run_id, thread_id, assistant_id, created_at, metadata } = run;
    const body = wireJson({
      run_id,
      thread_id,
      assistant_id,
      created_at,
      metadata,
      status: end.status,
      error: end.error ?? null,
      values: end.values ?? null,
      interrupts: end.interrupts ?? {},
      webhook_sent_at: new Date().toISOString(),
    });
    const sent = webhooks.send(webhook, body, closing).catch(onError);
    sending.add(sent);
    void sent.finally(() => sending.delete(sent));
  };
  return {
    async ended(run: RunRecord, end: FinishedRun): Promise<void> {
      tell(run, end);
      if (end.rolledBack) await records.runs.delete(run.owner, run.run_id);
      if (run.request.on_completion === "delete") {
        await records.threads.patch(run.owner, run.thread_id, { expiresAt: Date.now() + READABLE_MS });
        return;
      }
      // After a failure mail waits for the next run: one begun by itself might fail for ever.
      if (end.status === "success" && (await hasMail(records, run.thread_id)))
        await mailbox.wake(run.owner, run.thread_id, run.assistant_id);
    },
    async settled(): Promise<void> {
      await Promise.allSettled(sending);
    },
  };
}
