/**
 * Periodic work of any worker: reads waiting mail, calls due webhooks, looks at tasks on other servers, removes expired
 * threads and events that are no longer needed.
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AgentRegistry } from "../../agents/registry.ts";
import { EVERYONE, type ServerRecords, type ThreadKey } from "../../records/records.ts";
import type { Mailbox } from "../mail/mailbox.ts";
import type { HookSender } from "../webhooks/hook-sender.ts";
import type { DueWork } from "./due-work.ts";
import { finishRemoval, removeThread } from "./remove-thread.ts";

const THREADS_AT_ONCE = 50;
const SWEEP_MS = 600_000;
/** A thread that is being worked on, or cannot be removed now, is looked at again after this. */
const BUSY_MS = 60_000;

export interface HousekeepingParts {
  readonly records: ServerRecords;
  readonly saver: BaseCheckpointSaver;
  readonly registry: AgentRegistry;
  readonly eventsKeptMs: number;
  readonly mailbox: Pick<Mailbox, "wake">;
  readonly hooks: Pick<HookSender, "kick">;
  readonly follower: Pick<DueWork, "kick">;
  readonly completions: Pick<DueWork, "kick">;
}

/** A thread that fails does not hold up the others: its error is thrown at the end of the round. */
export function housekeeping(parts: HousekeepingParts): () => Promise<void> {
  const { records, eventsKeptMs, mailbox, hooks, follower, completions } = parts;
  let swept = Number.NEGATIVE_INFINITY;
  return async () => {
    hooks.kick();
    follower.kick();
    completions.kick();
    const failures: unknown[] = [];
    for (const { owner, threadId } of await records.mail.unattended(THREADS_AT_ONCE))
      await mailbox.wake(owner, threadId).catch((error) => failures.push(error));
    for (const thread of await records.threads.expired(THREADS_AT_ONCE))
      await removeExpired(parts, thread).catch((error) => failures.push(error));
    if (performance.now() - swept >= SWEEP_MS) {
      swept = performance.now();
      await records.events.sweep(Date.now() - eventsKeptMs);
      await records.tickets.sweep();
    }
    if (failures.length > 0) throw together(failures);
  };
}

async function removeExpired(parts: HousekeepingParts, thread: ThreadKey): Promise<void> {
  const { owner, thread_id: threadId } = thread;
  const later = () => parts.records.threads.patch(owner, threadId, { expiresAt: Date.now() + BUSY_MS });
  try {
    if (owner === EVERYONE) await finishRemoval(parts, { ...thread, owner });
    else if ((await removeThread(parts, thread)) === "busy") await later();
  } catch (error) {
    // The first ones are not always the same.
    await later();
    throw error;
  }
}

function together(failures: readonly unknown[]): unknown {
  if (failures.length === 1) return failures[0];
  const reasons = new Set(failures.map((failure) => (failure as Error)?.message ?? String(failure)));
  return new AggregateError(failures, `${failures.length} threads: ${[...reasons].join(" ")}`);
}
