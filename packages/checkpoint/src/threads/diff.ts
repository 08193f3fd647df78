/** What a step changed, or what changed between two. */
import { DeepwrightError } from "deepwright/errors";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { changeBetween, fileChange } from "./file-changes.ts";
import { listImages, type StoredImage } from "./images.ts";
import { lineageOf, stateAt } from "./lineage.ts";
import { changedFiles, FILES } from "./stored-files.ts";
import { StateReader, type StoredState } from "./stored-state.ts";
import type { FileChange } from "./threads.ts";

/** Files of the state first, then files elsewhere of which there are before-images; each sorted by path. */
export async function diffSteps(
  saver: SharedSaver,
  threadId: string,
  step: number | string,
  to: number | string | undefined,
): Promise<readonly FileChange[]> {
  const { home } = saver;
  const reader = new StateReader(home);
  const lineage = await lineageOf(home, reader, threadId);
  const named = await stateAt(home, reader, lineage, step);
  const after = to === undefined ? named : await stateAt(home, reader, lineage, to);
  const before = to === undefined ? await parentOf(saver, reader, named) : named;
  return [
    ...(await stateChanges(reader, before, after)),
    ...(await imageChanges(await listImages(saver, threadId), await startsBetween(saver, before, after))),
  ];
}

export async function stateChanges(
  reader: StateReader,
  before: StoredState | undefined,
  after: StoredState,
): Promise<FileChange[]> {
  await reader.loadChannels(before ? [before, after] : [after], [FILES]);
  const changes: FileChange[] = [];
  for (const change of changedFiles(reader, before, after)) {
    const readable = await fileChange(reader, change);
    if (readable) changes.push(readable);
  }
  return changes;
}

async function parentOf(
  { home }: SharedSaver,
  reader: StateReader,
  { row, step }: StoredState,
): Promise<StoredState | undefined> {
  if (row.parent === undefined) return undefined;
  const rows = await home.readTuple(row.threadId, row.namespace, row.parent);
  if (rows) return (await reader.states([rows.checkpoint]))[0];
  throw new DeepwrightError(
    "INVALID_INPUT",
    `What step ${step} of the thread '${row.threadId}' changed is not known: the step before it was pruned.`,
    { hint: "Compare two steps that are still there." },
  );
}

/** Checkpoints from which the loop went on, after `before` and up to `after`. Empty if one is not the other's ancestor. */
async function startsBetween(
  { home }: SharedSaver,
  before: StoredState | undefined,
  after: StoredState,
): Promise<ReadonlySet<string>> {
  const reader = new StateReader(home, false);
  const { states } = await lineageOf(home, reader, after.row.threadId, after.row.id);
  const first = before ? states.findIndex(({ row }) => row.id === before.row.id) + 1 : states.length - 1;
  if (first === 0 && before) return new Set();
  const steps = states.slice(first).filter(({ source }) => source === "loop");
  return new Set(steps.flatMap(({ row }) => row.parent ?? []));
}

/** A file several steps changed is one change: from before the first to after the last. */
async function imageChanges(
  images: readonly StoredImage[],
  starts: ReadonlySet<string>,
): Promise<FileChange[]> {
  const byFile = new Map<string, StoredImage[]>();
  for (const image of images.filter(({ checkpointId }) => starts.has(checkpointId))) {
    const key = JSON.stringify([image.place, image.path]);
    byFile.set(key, [...(byFile.get(key) ?? []), image]);
  }
  const changes: FileChange[] = [];
  for (const key of [...byFile.keys()].sort()) {
    const file = byFile.get(key) as StoredImage[];
    const [first, last] = [file[0] as StoredImage, file.at(-1) as StoredImage];
    const change = await changeBetween(first.path, await first.before(), await last.after(), first.place);
    if (change) changes.push(change);
  }
  return changes;
}
