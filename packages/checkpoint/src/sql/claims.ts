/** Claims: the right to write to a thread. */
import { DeepwrightError } from "deepwright/errors";
import type { ClaimAnswer } from "../storage/storage.ts";
import { type ClaimRecord, lockOrCreateThread, lockThread, type ThreadRecord } from "./threads.ts";
import type { Work } from "./work.ts";

/** Throws CLAIM_LOST under a fence that is no longer the current one, THREAD_BUSY under none while one lives. */
export function checkClaim(thread: ThreadRecord, fence: number | undefined): void {
  const { claim, threadId } = thread;
  if (fence !== undefined) {
    if (fence === claim.fence) return;
    throw new DeepwrightError(
      "CLAIM_LOST",
      `Thread "${threadId}" was taken over by another run; this one may not write to it any more.`,
    );
  }
  if (claim.remaining > 0) {
    throw new DeepwrightError("THREAD_BUSY", `Thread "${threadId}" is claimed by ${claim.holder}.`, {
      hint: "Wait for that run to end, or write under its claim.",
    });
  }
}

/** A holder that asks again, perhaps because the answer got lost, is given its own claim. */
export async function claim(
  work: Work,
  threadId: string,
  holder: string,
  ttlMs: number,
  fence: number | undefined,
): Promise<ClaimAnswer> {
  if (fence !== undefined) return extend(work, threadId, holder, ttlMs, fence);
  const thread = await lockOrCreateThread(work, threadId, "", Date.now());
  const { claim: current } = thread;
  if (current.remaining > 0 && current.holder !== holder) return heldBy(current);
  return hold(work, thread, holder, ttlMs, current.remaining > 0 ? current.fence : current.fence + 1);
}

/**
 * An expired claim can be renewed if no other holder has taken the thread; a claim that was released, or deleted,
 * cannot.
 */
async function extend(
  work: Work,
  threadId: string,
  holder: string,
  ttlMs: number,
  fence: number,
): Promise<ClaimAnswer> {
  const thread = await lockThread(work, threadId);
  if (thread?.claim.holder === undefined || thread.claim.fence !== fence) return heldBy(thread?.claim);
  return hold(work, thread, holder, ttlMs, fence);
}

function heldBy(claim: ClaimRecord | undefined): ClaimAnswer {
  return { held: false, holder: claim?.holder ?? "", remainingMs: claim?.remaining ?? 0 };
}

async function hold(
  { session, dialect }: Work,
  thread: ThreadRecord,
  holder: string,
  ttlMs: number,
  fence: number,
): Promise<ClaimAnswer> {
  await session.run(
    `UPDATE dw_threads SET claim_holder = $1, claim_fence = $2, claim_ttl = $3,
      claim_expires = ${dialect.claimClock} + CAST($3 AS BIGINT) WHERE id = $4`,
    [holder, fence, ttlMs, thread.id],
  );
  return { held: true, fence };
}

export async function release({ session }: Work, threadId: string, fence: number): Promise<void> {
  await session.run(
    "UPDATE dw_threads SET claim_holder = NULL, claim_expires = 0 WHERE thread_id = $1 AND claim_fence = $2",
    [threadId, fence],
  );
}
