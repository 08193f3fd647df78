/** Who may write to a thread. */
import { DeepwrightError } from "deepwright/errors";
import type { ClaimAnswer } from "../home/home.ts";
import { lockOrCreateThread, type ThreadRecord } from "./threads.ts";
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
  const { session, dialect } = work;
  const { id, claim: current } = await lockOrCreateThread(work, threadId, "", Date.now());
  const extended =
    fence === undefined
      ? current.holder === holder && current.remaining > 0
      : current.holder !== undefined && current.fence === fence;
  const lost = fence !== undefined && fence !== current.fence;
  if (lost || (!extended && current.remaining > 0)) {
    return { held: false, holder: current.holder ?? "", remainingMs: current.remaining };
  }
  const next = extended ? current.fence : current.fence + 1;
  await session.run(
    `UPDATE dw_threads SET claim_holder = $1, claim_fence = $2, claim_expires = ${dialect.clock} + $3 WHERE id = $4`,
    [holder, next, ttlMs, id],
  );
  return { held: true, fence: next };
}

export async function release({ session }: Work, threadId: string, fence: number): Promise<void> {
  await session.run(
    "UPDATE dw_threads SET claim_holder = NULL, claim_expires = 0 WHERE thread_id = $1 AND claim_fence = $2",
    [threadId, fence],
  );
}
