/** Makes the changes of a fork in a directory, or those of a thread again, by a three-way merge. */
import { randomBytes } from "node:crypto";
import type { ThreadClaim } from "../../saver/claim.ts";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { DISK, listImages } from "../images.ts";
import { lineageOf } from "../lineage.ts";
import { goneOnFrom, putHead } from "../rewind.ts";
import { StateReader } from "../stored-state.ts";
import type { RestoreResult } from "../threads.ts";
import { notCoveredBy } from "../undo/not-covered.ts";
import { recorder } from "../undo/record-restore.ts";
import { restoreFiles } from "../undo/restore-files.ts";
import { openRoots } from "../undo/roots.ts";
import { timelines } from "../undo/timeline.ts";
import { forkNote, noFork } from "./fork-note.ts";
import type { AdoptOptions } from "./fork-types.ts";

export async function adopt(
  saver: SharedSaver,
  threadId: string,
  { root, dryRun = false, claim: held }: AdoptOptions,
): Promise<RestoreResult> {
  if (dryRun || held) return adoptInto(saver, threadId, root, dryRun ? undefined : held);
  const claim = await saver.claimThread(threadId, { mode: "refuse" });
  try {
    return await adoptInto(saver, threadId, root, claim);
  } finally {
    await claim.release();
  }
}

async function adoptInto(
  saver: SharedSaver,
  threadId: string,
  given: string,
  claim: ThreadClaim | undefined,
): Promise<RestoreResult> {
  const { paths: roots } = await openRoots([given]);
  const [root = given] = roots;
  const images = await listImages(saver, threadId);
  const note = await forkNote(images);
  const worked = note?.copy ?? root;
  const own = images.filter(({ place }) => place.endsWith(`:${worked}`));
  if (note === undefined && own.length === 0) throw noFork(threadId);
  const reader = new StateReader(saver.storage, false);
  const lineage = await lineageOf(saver.storage, reader, threadId);
  const done = goneOnFrom(lineage.states);
  const id = `adopt-${randomBytes(4).toString("hex")}`;
  const { unwritten: _, ...report } = await restoreFiles({
    files: timelines(own).map((file) => ({ ...file, place: DISK + root })),
    choice: {
      undone: () => false,
      redone: ({ checkpointId, by }) => by.kind !== "restore" && done.has(checkpointId),
    },
    roots,
    keptAs: "adopted",
    record: claim && recorder(saver, claim, lineage.head.row.id, { kind: "restore", call: id }),
  });
  const missing = await notCoveredBy({
    images: own,
    isTouched: ({ checkpointId }) => done.has(checkpointId),
    changedSince: async () => undefined,
  });
  const isWritten = claim !== undefined && report.restored.length > 0;
  if (isWritten && lineage.writes.length === 0)
    await putHead(saver, lineage, lineage.head, { files: undefined, claim, source: "update" });
  return {
    ...report,
    notCovered: [...report.notCovered, ...missing],
    call: isWritten ? id : undefined,
  };
}
