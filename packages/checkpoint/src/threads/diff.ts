/** Changes of a step, or between two steps. */
import { DeepwrightError } from "deepwright/errors";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { changeBetween, fileChange, searchEnd } from "./file-changes.ts";
import { listImages, type StoredImage } from "./images.ts";
import { lineageOf, stateAt } from "./lineage.ts";
import { changedFiles, FILES } from "./stored-files.ts";
import { StateReader, type StoredState } from "./stored-state.ts";
import type { DiffRange, FileChange, PlacedChange } from "./threads.ts";

/**
 * Files of the state first, then files elsewhere of which there are before-images; each sorted by path. A file is
 * compared when it is asked for.
 */
export async function* diffSteps(
  saver: SharedSaver,
  threadId: string,
  step: number | string,
  { to, skip = 0, mostBytes, admit }: DiffRange,
): AsyncGenerator<PlacedChange> {
  const { storage } = saver;
  const reader = new StateReader(storage);
  const lineage = await lineageOf(storage, reader, threadId);
  const named = await stateAt(storage, reader, lineage, step);
  const after = to === undefined ? named : await stateAt(storage, reader, lineage, to);
  const before = to === undefined ? await parentOf(saver, reader, named) : named;
  await reader.loadChannels(before ? [before, after] : [after], [FILES], mostBytes);
  admit?.(reader.size);
  const changed = changedFiles(reader, before, after);
  const images = imagesByFile(await listImages(saver, threadId), await startsBetween(saver, before, after));
  const searchUntil = searchEnd();
  for (let position = skip; position < changed.length + images.length; position += 1) {
    const file = changed[position];
    const change = file
      ? await fileChange(reader, file, searchUntil)
      : await imageChange(images[position - changed.length] as StoredImage[], searchUntil);
    if (change) yield [position + 1, change];
  }
}

async function parentOf(
  { storage }: SharedSaver,
  reader: StateReader,
  { row, step }: StoredState,
): Promise<StoredState | undefined> {
  if (row.parent === undefined) return undefined;
  const rows = await storage.readTuple(row.threadId, row.namespace, row.parent);
  if (rows) return (await reader.states([rows.checkpoint]))[0];
  throw new DeepwrightError(
    "INVALID_INPUT",
    `What step ${step} of the thread '${row.threadId}' changed is not known: the step before it was pruned.`,
    { hint: "Compare two steps that are still there." },
  );
}

/** Checkpoints from which the loop went on, after `before` and up to `after`. Empty if one is not the other's ancestor. */
async function startsBetween(
  { storage }: SharedSaver,
  before: StoredState | undefined,
  after: StoredState,
): Promise<ReadonlySet<string>> {
  const reader = new StateReader(storage, false);
  const { states } = await lineageOf(storage, reader, after.row.threadId, after.row.id);
  const first = before ? states.findIndex(({ row }) => row.id === before.row.id) + 1 : states.length - 1;
  if (first === 0 && before) return new Set();
  const steps = states.slice(first).filter(({ source }) => source === "loop");
  return new Set(steps.flatMap(({ row }) => row.parent ?? []));
}

/** The images of each file the steps changed, in order. */
function imagesByFile(images: readonly StoredImage[], starts: ReadonlySet<string>): StoredImage[][] {
  const byFile = new Map<string, StoredImage[]>();
  for (const image of images.filter(({ checkpointId }) => starts.has(checkpointId))) {
    const key = JSON.stringify([image.place, image.path]);
    byFile.set(key, [...(byFile.get(key) ?? []), image]);
  }
  return [...byFile.keys()].sort().map((key) => byFile.get(key) as StoredImage[]);
}

/** A file several steps changed is one change: from before the first to after the last. */
async function imageChange(
  images: readonly StoredImage[],
  searchUntil: number,
): Promise<FileChange | undefined> {
  const [first, last] = [images[0] as StoredImage, images.at(-1) as StoredImage];
  const { path, place } = first;
  return changeBetween(path, await first.before(), await last.after(), place, searchUntil);
}
