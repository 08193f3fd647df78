/** The webhook for the end of a run, if its client asked for one. */

import { pushHook } from "../../a2a/a2a-push.ts";
import { answerIn } from "../../a2a/a2a-task.ts";
import type { ApprovalLink, ApprovalLinks } from "../../approval-links/approval-links.ts";
import type { PushConfig, RunEnd, RunRecord, ServerRecords } from "../../records/records.ts";
import type { WireJson } from "../wire/wire-json.ts";

type Ended = Pick<RunEnd, "status" | "error" | "values" | "interrupts" | "outcome">;

export interface WebhookParts {
  readonly records: Pick<ServerRecords, "runs">;
  readonly wireJson: WireJson;
  readonly approvalLinks?: ApprovalLinks | undefined;
}

export async function webhookOf(
  { records, wireJson, approvalLinks }: WebhookParts,
  run: RunRecord,
  ended: Ended,
): Promise<Pick<RunEnd, "webhook">> {
  const { webhook, push } = run.request;
  if (push !== undefined) {
    // They may have been asked for while the run was at work.
    const now = (await records.runs.get(run.owner, run.run_id))?.request.push;
    return now ? { webhook: pushOf(now, run, ended, wireJson) } : {};
  }
  if (!webhook) return {};
  const links = approvalLinks && (await approvalLinks.make(run, ended.interrupts ?? {}));
  return { webhook: { url: webhook, body: bodyOf(run, ended, links, wireJson) } };
}

function pushOf(push: PushConfig, run: RunRecord, ended: Ended, wireJson: WireJson) {
  const { status, error, values, interrupts = {} } = ended;
  const waiting = Object.values(interrupts).flatMap((all) =>
    all.flatMap(({ id, value }) => (id === undefined ? [] : [{ id, value }])),
  );
  const now = { ...run, status, ...(error && { error }), updated_at: new Date().toISOString() };
  return pushHook(push, { run: now, waiting, answer: answerIn(values) }, wireJson);
}

function bodyOf(
  { run_id, thread_id, assistant_id, created_at, metadata }: RunRecord,
  { status, error, values, interrupts, outcome }: Ended,
  links: readonly ApprovalLink[] | undefined,
  wireJson: WireJson,
): string {
  return wireJson({
    run_id,
    thread_id,
    assistant_id,
    created_at,
    metadata,
    status,
    error: error ?? null,
    ...(outcome && { outcome }),
    values: values ?? null,
    interrupts: interrupts ?? {},
    ...(links && links.length > 0 && { approval_links: links }),
  });
}
