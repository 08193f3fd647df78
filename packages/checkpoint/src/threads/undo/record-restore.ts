/** Rows that a restore leaves with the thread, so that it can be taken back itself. */
import { type ImageAuthor, PLACES, snapshotLogOf, snapshotsOf } from "deepwright/internal";
import { CLAIM_KEY, type ThreadClaim } from "../../saver/claim.ts";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { COMMAND } from "../images.ts";
import { isRecorded } from "./not-covered.ts";
import type { Change } from "./restore-files.ts";

/** Returns what stores changes before they are made. */
export function recorder(
  saver: SharedSaver,
  claim: ThreadClaim,
  checkpointId: string,
  by: ImageAuthor,
): (place: string, changes: readonly Change[]) => Promise<void> {
  const config = { configurable: { thread_id: claim.threadId, [CLAIM_KEY]: claim } };
  return async (place, changes) => {
    const side = (of: "before" | "after") => ({
      entries: Object.fromEntries(
        changes.flatMap((change) => (change[of] ? [[change.path, change[of]]] : [])),
      ),
    });
    const path = JSON.stringify(changes.map((change) => change.path));
    await saver.recordImage(config, {
      checkpointId,
      place,
      path,
      before: side("before"),
      after: side("after"),
      by,
    });
  };
}

/** Records what commands that never came to their end have changed in these directories. */
export async function settleCommands(
  saver: SharedSaver,
  claim: ThreadClaim,
  roots: ReadonlySet<string>,
  checkpointId: string,
): Promise<void> {
  const images = await saver.imagesOf(claim.threadId);
  const config = { configurable: { thread_id: claim.threadId, [CLAIM_KEY]: claim } };
  for (const root of roots) {
    const last = images.findLast(({ place }) => place === COMMAND + root);
    const hasBase = images.some(({ place }) => place === PLACES.base + root);
    if (last === undefined || !hasBase || isRecorded(last, images)) continue;
    const log = snapshotLogOf(saver, claim.threadId, config, checkpointId);
    await snapshotsOf(saver, claim.threadId, root).settle(log);
  }
}
