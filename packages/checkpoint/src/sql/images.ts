/** Files outside the state as they were before a run changed them. */
import type { ImageRow, NewImage } from "../storage/storage.ts";
import { bytesIn, integerIn, momentIn, optional, textIn } from "./columns.ts";
import { checkId, packId, unpackId } from "./ids.ts";
import type { Work } from "./work.ts";

/** The same image of the same moment is one: a write may come twice after a connection was lost. */
export async function insertImage(
  { session }: Work,
  thread: number,
  image: NewImage,
  now: number,
): Promise<void> {
  await session.run(
    `INSERT INTO dw_images (thread, checkpoint, place, path, before_ref, after_ref, stored_at)
      SELECT CAST($1 AS BIGINT), $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT)
      WHERE NOT EXISTS (SELECT 1 FROM dw_images i WHERE i.thread = $1 AND i.checkpoint = $2 AND i.place = $3
      AND i.path = $4 AND i.before_ref IS NOT DISTINCT FROM $5 AND i.after_ref IS NOT DISTINCT FROM $6
      AND i.stored_at = $7)`,
    [
      thread,
      packId(image.checkpointId),
      checkId(image.place, "A place"),
      checkId(image.path, "A path"),
      image.before ?? null,
      image.after ?? null,
      now,
    ],
  );
}

export async function listImages({ session }: Work, threadId: string): Promise<ImageRow[]> {
  const rows = await session.all(
    `SELECT i.sequence, i.checkpoint, i.place, i.path, i.before_ref, i.after_ref, i.stored_at
      FROM dw_images i JOIN dw_threads t ON t.id = i.thread WHERE t.thread_id = $1 ORDER BY i.sequence`,
    [threadId],
  );
  return rows.map((row) => ({
    sequence: integerIn(row, "sequence"),
    checkpointId: unpackId(bytesIn(row, "checkpoint")),
    place: textIn(row, "place"),
    path: textIn(row, "path"),
    before: optional(row, "before_ref", integerIn),
    after: optional(row, "after_ref", integerIn),
    at: momentIn(row, "stored_at"),
  }));
}
