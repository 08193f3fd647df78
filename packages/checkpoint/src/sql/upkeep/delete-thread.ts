import { checkClaim } from "../claims.ts";
import { integerIn } from "../columns.ts";
import type { SqlRow } from "../sql.ts";
import { lockThread } from "../threads.ts";
import type { Work } from "../work.ts";
import { beginSweep, giveUp } from "./sweep.ts";

/** A missing thread counts as deleted. A damaged thread can be deleted. */
export async function deleteThread(work: Work, threadId: string, fence: number | undefined): Promise<void> {
  await beginSweep(work);
  const thread = await lockThread(work, threadId, "", numberOrZero);
  if (thread === undefined) return;
  checkClaim(thread, fence);
  const { session } = work;
  const spaces = "space IN (SELECT id FROM dw_spaces WHERE thread = $1)";
  await session.run(`DELETE FROM dw_writes WHERE ${spaces}`, [thread.id]);
  await session.run(`DELETE FROM dw_checkpoints WHERE ${spaces}`, [thread.id]);
  await session.run("DELETE FROM dw_spaces WHERE thread = $1", [thread.id]);
  await session.run("DELETE FROM dw_images WHERE thread = $1", [thread.id]);
  await session.run("DELETE FROM dw_shares WHERE thread = $1", [thread.id]);
  const owned = await session.all("SELECT id FROM dw_objects WHERE owner = $1", [thread.id]);
  await giveUp(
    work,
    owned.map((row) => integerIn(row, "id")),
  );
  await session.run("DELETE FROM dw_threads WHERE id = $1", [thread.id]);
  await raiseSeed(work, Math.max(thread.epoch, thread.claim.fence));
}

function numberOrZero(row: SqlRow, column: string): number {
  return Number.isSafeInteger(row[column]) ? (row[column] as number) : 0;
}

/**
 * A later thread under the same name begins above this one's numbers, so that cached ids of objects or a claim are not
 * taken for the new one's.
 */
async function raiseSeed({ session }: Work, used: number): Promise<void> {
  await session.run("UPDATE dw_meta SET value = $1 WHERE name = 'seed' AND value < $1", [used]);
}
