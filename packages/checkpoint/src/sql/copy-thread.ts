import { DeepwrightError } from "deepwright/errors";
import { checkClaim } from "./claims.ts";
import { lockOrCreateThread, lockThread, threadNotFound } from "./threads.ts";
import type { Work } from "./work.ts";

/**
 * Rows are copied inside the database; content is shared.
 *
 * `copier` identifies this call. It stays as the last holder of the target, so that a call repeated after a lost answer
 * finds its own copy.
 */
export async function copyThread(
  work: Work,
  from: string,
  to: string,
  now: number,
  copier: string,
): Promise<void> {
  const source = await lockThread(work, from);
  if (source === undefined || source.checkpointCount === 0) throw threadNotFound(from);
  if (from === to) throw threadExists(to);
  const target = await lockOrCreateThread(work, to, "", now);
  if (target.claim.holder === copier) return;
  if (target.checkpointCount > 0 || target.space !== undefined) throw threadExists(to);
  checkClaim(target, undefined);
  await work.session.run(
    `UPDATE dw_threads SET (title, first_prompt, message_count, checkpoint_count, model, cwd) = (SELECT
      f.title, f.first_prompt, f.message_count, f.checkpoint_count, f.model, f.cwd FROM dw_threads f
      WHERE f.id = $1), created_at = $3, updated_at = $3, claim_holder = $4,
      claim_fence = claim_fence + 1 WHERE id = $2`,
    [source.id, target.id, now, copier],
  );
  await copyRows(work, source.id, target.id);
}

async function copyRows({ session }: Work, source: number, target: number): Promise<void> {
  const ends = [source, target];
  const spaces = `JOIN dw_spaces o ON o.id = r.space AND o.thread = $1
    JOIN dw_spaces n ON n.thread = $2 AND n.namespace = o.namespace`;
  await session.run(
    "INSERT INTO dw_spaces (thread, namespace) SELECT CAST($2 AS BIGINT), namespace FROM dw_spaces WHERE thread = $1",
    ends,
  );
  await session.run(
    `INSERT INTO dw_checkpoints (space, id, parent, root, stored_at, refs, body)
      SELECT n.id, r.id, r.parent, r.root, r.stored_at, r.refs, r.body FROM dw_checkpoints r ${spaces}`,
    ends,
  );
  await session.run(
    `INSERT INTO dw_writes (space, checkpoint, task, refs, body)
      SELECT n.id, r.checkpoint, r.task, r.refs, r.body FROM dw_writes r ${spaces} ORDER BY r.sequence`,
    ends,
  );
  await session.run(
    `INSERT INTO dw_images (thread, checkpoint, place, path, before_ref, after_ref, stored_at)
      SELECT CAST($2 AS BIGINT), checkpoint, place, path, before_ref, after_ref, stored_at FROM dw_images
      WHERE thread = $1 ORDER BY sequence`,
    ends,
  );
  await session.run(
    `INSERT INTO dw_shares (thread, object) SELECT CAST($2 AS BIGINT), id FROM dw_objects WHERE owner = $1
      UNION SELECT CAST($2 AS BIGINT), object FROM dw_shares WHERE thread = $1`,
    ends,
  );
}

function threadExists(threadId: string): DeepwrightError {
  return new DeepwrightError("THREAD_EXISTS", `There is a thread "${threadId}" already.`, {
    hint: "Choose another name, or delete that thread first.",
  });
}
