/**
 * What any worker does from time to time: mail that nobody reads is attended to, webhooks whose time has come are
 * called, tasks that other servers do are looked at, threads whose time is over go, and events nobody will read.
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { ServerRecords } from "../records/records.ts";
import type { DueWork } from "./due-work.ts";
import type { HookSender } from "./hook-sender.ts";
import type { Mailbox } from "./mailbox.ts";

const THREADS_AT_ONCE = 50;
const SWEEP_MS = 600_000;
/** A thread that is being worked on is looked at again after this. */
const BUSY_MS = 60_000;

export interface HousekeepingParts {
  readonly records: ServerRecords;
  readonly saver: BaseCheckpointSaver;
  readonly eventsKeptMs: number;
  readonly mailbox: Pick<Mailbox, "wake">;
  readonly hooks: Pick<HookSender, "kick">;
  readonly follower: Pick<DueWork, "kick">;
  readonly completions: Pick<DueWork, "kick">;
}

export function housekeeping(parts: HousekeepingParts): () => Promise<void> {
  const { records, saver, eventsKeptMs, mailbox, hooks, follower, completions } = parts;
  let swept = Number.NEGATIVE_INFINITY;
  return async () => {
    hooks.kick();
    follower.kick();
    completions.kick();
    for (const { owner, threadId } of await records.mail.unattended(THREADS_AT_ONCE))
      await mailbox.wake(owner, threadId);
    for (const { owner, threadId } of await records.threads.expired(THREADS_AT_ONCE)) {
      const thread = await records.threads.get(owner, threadId);
      if (thread?.status === "busy") {
        await records.threads.patch(owner, threadId, { expiresAt: Date.now() + BUSY_MS });
        continue;
      }
      // The record last: it is what leads to the rest.
      await saver.deleteThread(threadId);
      await records.threads.delete(owner, threadId);
    }
    if (performance.now() - swept < SWEEP_MS) return;
    swept = performance.now();
    await records.events.sweep(Date.now() - eventsKeptMs);
  };
}
