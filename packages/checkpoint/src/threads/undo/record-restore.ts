/** Rows that a restore leaves with the thread, so that it can be taken back itself. */
import {
  DirectorySnapshots,
  type ImageAuthor,
  PLACES,
  type SnapshotLog,
  type StoredImageRow,
  snapshotLogOf,
  snapshotsOf,
} from "deepwright/internal";
import { CLAIM_KEY, type ThreadClaim } from "../../saver/claim.ts";
import type { StoredImage } from "../../saver/file-image.ts";
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

/**
 * Records what commands that never came to their end have changed in these directories. Returns all images of the
 * thread. Without a claim, for a preview, nothing is stored: the images have it anyway.
 */
export async function settledImages(
  saver: SharedSaver,
  threadId: string,
  claim: ThreadClaim | undefined,
  roots: ReadonlySet<string>,
  checkpointId: string,
): Promise<readonly StoredImage[]> {
  const images = await saver.imagesOf(threadId);
  const isBroken = (root: string): boolean => {
    const last = images.findLast(({ place }) => place === COMMAND + root);
    const hasBase = images.some(({ place }) => place === PLACES.base + root);
    return last !== undefined && hasBase && !isRecorded(last, images);
  };
  const broken = [...roots].filter(isBroken);
  if (broken.length === 0) return images;
  if (claim === undefined) return previewed(broken, images, checkpointId);
  const config = { configurable: { thread_id: threadId, [CLAIM_KEY]: claim } };
  const log = snapshotLogOf(saver, threadId, config, checkpointId);
  for (const root of broken) await snapshotsOf(saver, threadId, root).settle(log);
  return saver.imagesOf(threadId);
}

async function previewed(
  roots: readonly string[],
  images: readonly StoredImage[],
  checkpointId: string,
): Promise<readonly StoredImage[]> {
  const all: StoredImageRow[] = [...images];
  const log: SnapshotLog = {
    images: async () => all,
    record: async ({ before, after, ...image }) => {
      const sequence = (all.at(-1)?.sequence ?? 0) + 1;
      const sides = { before: async () => before, after: async () => after };
      all.push({ checkpointId, at: Date.now(), ...image, sequence, ...sides });
    },
  };
  for (const root of roots) await new DirectorySnapshots(root).settle(log);
  return all as StoredImage[];
}
