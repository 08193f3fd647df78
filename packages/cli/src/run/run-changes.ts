/** What a run wrote: told by the images that its steps left of the files they changed. */
import type { SharedSaver, StoredImage } from "@deepwright/checkpoint";
import { DeepwrightError } from "deepwright/errors";
import type { UndoTree } from "deepwright/node";
import { type Change, type Changes, changesOf } from "./changes.ts";

type Content = string | Uint8Array | undefined;

/** The images of a thread up to a number, that of its newest one when a run begins, are those of earlier runs. */
export async function imagesBefore(saver: SharedSaver, threadId: string): Promise<number> {
  const { listImages } = await import("@deepwright/checkpoint");
  return (await listImages(saver, threadId)).at(-1)?.sequence ?? 0;
}

/** The same for a run that was broken off and goes on: it began with the thread's last input. */
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
 * What images after number `since` tell of the tree `place`. An image is kept before its file is changed: what is
 * still as it was, because that failed or was changed back, is left out.
 */
export async function changesSince(
  saver: SharedSaver,
  threadId: string,
  since: number,
  place: string,
): Promise<Changes> {
  const [{ listImages }, { openUndoTree }] = await Promise.all([
    import("@deepwright/checkpoint"),
    import("deepwright/node"),
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

/** What cannot be read is not as it was. */
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

/** What is text comes as text, so that a text never equals bytes. */
function isSame(one: Content, other: Content): boolean {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return one === other;
  return Buffer.compare(one, other) === 0;
}
