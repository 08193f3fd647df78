/** Mail of threads. */
import type { Owner } from "./owner.ts";

/** Messages for a thread that wait for its next turn: steering, follow-ups, ends of background work; and orders for its subagents. */
export interface MailRecords {
  /**
   * An `id` that was delivered or waits already is not delivered again: false, as for a thread the owner does not have.
   */
  post(
    owner: Owner,
    threadId: string,
    mail: {
      readonly id: string;
      readonly kind: MailKind;
      readonly message: unknown;
    },
  ): Promise<boolean>;
  /** In the order they came; they stay until `settle`. */
  waiting(threadId: string, kinds: readonly string[]): Promise<readonly WaitingMail[]>;
  settle(threadId: string, ids: readonly string[]): Promise<void>;
  /** Threads at rest with mail for which no run was begun under `mailKey`: the process that was to begin one is gone. */
  unattended(limit: number): Promise<readonly { readonly owner: Owner; readonly threadId: string }[]>;
}

export type MailKind = "steer" | "follow-up" | "completion" | "task-end" | "subagent";

export interface WaitingMail {
  readonly id: string;
  readonly kind: string;
  readonly message: unknown;
  /** The `sequence` of the last run its thread had when it came; 0 for none. */
  readonly afterRun: number;
}

/** The idempotency key of a run that is begun for mail; `newest` is the last letter that waits. */
export const mailKey = (threadId: string, newest: string): string =>
  `mail:${threadId.length}:${threadId}:${newest}`;
