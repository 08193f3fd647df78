/** Bytes that a thread costs, and which part of them only its snapshots need. */
import { reachable } from "../../storage/reachable.ts";
import { decodeHead, decodeRefs } from "../../storage/refs.ts";
import type { ThreadSize } from "../../storage/storage.ts";
import { bytesIn, integerIn, optional } from "../columns.ts";
import type { Work } from "../work.ts";

/** Content that several threads use counts for the thread that stored it first. */
export async function threadSize({ session }: Work, threadId: string): Promise<ThreadSize> {
  const objects = await session.all(
    `SELECT o.id, o.head, octet_length(o.head) + COALESCE(octet_length(o.body), 0) AS bytes FROM dw_objects o
      JOIN dw_threads t ON t.id = o.owner WHERE t.thread_id = $1`,
    [threadId],
  );
  const rows = await session.all(
    `SELECT c.refs, octet_length(c.body) AS bytes FROM dw_threads t JOIN dw_spaces s ON s.thread = t.id
      JOIN dw_checkpoints c ON c.space = s.id WHERE t.thread_id = $1 UNION ALL
      SELECT w.refs, octet_length(w.body) AS bytes FROM dw_threads t JOIN dw_spaces s ON s.thread = t.id
      JOIN dw_writes w ON w.space = s.id WHERE t.thread_id = $1`,
    [threadId],
  );
  const images = await session.all(
    `SELECT octet_length(i.place) + octet_length(i.path) AS bytes FROM dw_threads t
      JOIN dw_images i ON i.thread = t.id WHERE t.thread_id = $1`,
    [threadId],
  );
  const heads = new Map(objects.map((row) => [integerIn(row, "id"), bytesIn(row, "head")]));
  const refsOf = (id: number): readonly number[] | undefined => {
    const head = heads.get(id);
    return head && decodeHead(head).refs;
  };
  const ofSteps = reachable(
    rows.flatMap((row) => decodeRefs(optional(row, "refs", bytesIn) ?? null)),
    refsOf,
  );
  const bytes = (list: readonly { readonly bytes?: unknown }[]): number =>
    list.reduce((sum, row) => sum + Number(row.bytes ?? 0), 0);
  const onlySnapshots = objects.filter((row) => !ofSteps.has(integerIn(row, "id")));
  return {
    bytes: bytes(objects) + bytes(rows) + bytes(images),
    snapshotBytes: bytes(onlySnapshots) + bytes(images),
  };
}
