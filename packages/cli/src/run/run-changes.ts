/** The files a run changed, read from the before-images of its steps. */
import type { SharedSaver, StoredImage } from "@deepwright/checkpoint";
import { DeepwrightError } from "deepwright/errors";
import type { UndoTree } from "deepwright/internal";
import { type Change, type Changes, changesOf } from "./changes.ts";

type Content = string | Uint8Array | undefined;

/** The number of the newest image when a run begins; images up to it belong to earlier runs. */
export async function imagesBefore(saver: SharedSaver, threadId: string): Promise<number> {
  const { listImages } = await import("@deepwright/checkpoint");
  return (await listImages(saver, threadId)).at(-1)?.sequence ?? 0;
}

/** The same for a resumed run, which began with the thread's last input. */
export async function imagesBeforeInput(saver: SharedSaver, threadId: string): Promise<number> {
  const { listImages, openThreads } = await import("@deepwright/checkpoint");
  const images = await listImages(saver, threadId);
  const { steps } = await openThreads(saver).show(threadId);
  const input = steps.findLastIndex(({ source }) => source === "input");
  const since = new Set(steps.slice(Math.max(input, 0)).map(({ checkpointId }) => checkpointId));
  const first = images.findIndex(({ checkpointId }) => since.has(checkpointId));
  return images.slice(0, first === -1 ? undefined : first).at(-1)?.sequence ?? 0;
}

/**
 * Changes of the tree `place` according to images after number `since`. An image is stored before its file changes.
 * Files that are unchanged, because the change failed or was undone, are left out.
 */
export async function changesSince(
  saver: SharedSaver,
  threadId: string,
  since: number,
  place: string,
): Promise<Changes> {
  const [{ listImages }, { openUndoTree }] = await Promise.all([
    import("@deepwright/checkpoint"),
    import("deepwright/internal"),
  ]);
  const disk = openUndoTree(place);
  const images = await listImages(saver, threadId);
  const changes: Change[] = [];
  for (const [path, file] of byPath(images.filter((i) => i.sequence > since && i.place === place))) {
    const before = await file[0]?.before();
    const kind = kindOf(before, await file.at(-1)?.after());
    if (kind && !(disk && (await isStill(disk, path, before)))) changes.push({ path, kind });
  }
  const large = place.replace("disk:", "large:");
  const known = new Set(changes.map(({ path }) => path));
  for (const path of byPath(images.filter((i) => i.sequence > since && i.place === large)).keys())
    if (!known.has(path)) changes.push({ path, kind: "changed" });
  return changesOf(changes);
}

/** Unreadable content counts as changed. */
async function isStill(disk: UndoTree, path: string, before: Content): Promise<boolean> {
  try {
    const now = await disk.read(path);
    return now === undefined ? before === undefined : before !== undefined && Buffer.from(before).equals(now);
  } catch (error) {
    if (error instanceof DeepwrightError) return false;
    throw error;
  }
}

function byPath(images: readonly StoredImage[]): Map<string, StoredImage[]> {
  const files = new Map<string, StoredImage[]>();
  for (const image of images) {
    const known = files.get(image.path);
    if (known) known.push(image);
    else files.set(image.path, [image]);
  }
  return files;
}

function kindOf(before: Content, after: Content): Change["kind"] | undefined {
  if (isSame(before, after)) return undefined;
  return before === undefined ? "created" : after === undefined ? "deleted" : "changed";
}

/** Text is compared as text, so a text never equals bytes. */
function isSame(one: Content, other: Content): boolean {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return one === other;
  return Buffer.compare(one, other) === 0;
}
