/**
 * Orders of people for single subagents: to stop, or a message.
 *
 * They wait in the mail of the thread, so that any process may take them, and are dropped at the end of the run. An
 * order for a subagent that does not work yet, or not any more, waits until then. A message that the subagent did not
 * read is in the result that its parent reads.
 */
import { randomUUID } from "node:crypto";
import type { SubagentOrder } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import { SubagentControl } from "deepwright/internal";
import type { MailRecords, Owner, ServerRecords, WaitingMail } from "../../records/records.ts";
import type { ActiveRuns } from "../execution/active-runs.ts";
import { missing, ServiceError } from "../service-error.ts";

export const SUBAGENT_KIND = "subagent";

export interface NewSubagentOrder {
  readonly id?: string | undefined;
  /** The namespace of the subagent. */
  readonly subagent: string;
  /** A message for it; absent: it is to stop. */
  readonly content?: unknown;
}

export interface OrderParts {
  readonly records: Pick<ServerRecords, "mail" | "runs" | "threads">;
  readonly active: ActiveRuns;
}

/** Carried out by the process that works on the run. Throws when the thread has no run at work. */
export async function orderSubagent(
  { records, active }: OrderParts,
  owner: Owner,
  threadId: string,
  { id = randomUUID(), subagent, content }: NewSubagentOrder,
): Promise<SubagentOrder> {
  if ((await records.threads.get(owner, threadId)) === undefined) throw missing("thread");
  const [run] = await records.runs.list(owner, threadId, { limit: 1, offset: 0, status: "running" });
  if (run === undefined)
    throw new ServiceError("NOTHING_TO_STEER", "The thread has no run at work, so no subagent works in it.");
  const message = { subagent, ...(content !== undefined && { content }) };
  await records.mail.post(owner, threadId, { id, kind: SUBAGENT_KIND, message });
  active.onThread(threadId)?.look();
  return { id, run_id: run.run_id };
}

/** Orders of one run, in the process that works on it. */
export class SubagentOrders {
  readonly control = new SubagentControl();
  readonly #waiting = new Set<string>();
  readonly #handed = new Set<string>();

  constructor(
    private readonly mail: Pick<MailRecords, "settle">,
    private readonly threadId: string,
  ) {}

  /** Hands on orders for subagents that work now. */
  take(mail: readonly WaitingMail[]): void {
    for (const { id, message } of mail) {
      this.#waiting.add(id);
      if (!this.#handed.has(id) && this.#handOn(id, message)) this.#handed.add(id);
    }
  }

  /** The run has ended: no order of it is left. */
  async drop(): Promise<void> {
    if (this.#waiting.size > 0) await this.mail.settle(this.threadId, [...this.#waiting]);
    this.#waiting.clear();
  }

  #handOn(id: string, message: unknown): boolean {
    if (!isRecord(message) || typeof message.subagent !== "string") return false;
    const { subagent, content } = message;
    return content === undefined
      ? this.control.stop(subagent)
      : this.control.steer(subagent, { id, content });
  }
}
