/** Changes of a step, or between two steps. */
import { DeepwrightError } from "deepwright/errors";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { fileChange, searchEnd } from "./file-changes.ts";
import { listImages, type StoredImage } from "./images.ts";
import { lineageOf, stateAt } from "./lineage.ts";
import { changedFiles, FILES } from "./stored-files.ts";
import { StateReader, type StoredState } from "./stored-state.ts";
import type { DiffRange, FileChange, PlacedChange } from "./threads.ts";
import { entryChange } from "./undo/entry-change.ts";
import { isOfAgent } from "./undo/plan.ts";
import { type FileTimeline, type Link, timelines } from "./undo/timeline.ts";

/**
 * Files of the state first, then files elsewhere of which there are before-images; each sorted by path. A file is
 * compared when it is asked for.
 */
export async function* diffSteps(
  saver: SharedSaver,
  threadId: string,
  step: number | string,
  { to, path, skip = 0, mostBytes, admit }: DiffRange,
): AsyncGenerator<PlacedChange> {
  const { storage } = saver;
  const reader = new StateReader(storage);
  const lineage = await lineageOf(storage, reader, threadId);
  const named = await stateAt(storage, reader, lineage, step);
  const after = to === undefined ? named : await stateAt(storage, reader, lineage, to);
  const before = to === undefined ? await parentOf(saver, reader, named) : named;
  await reader.loadChannels(before ? [before, after] : [after], [FILES], mostBytes);
  admit?.(reader.size);
  const isAsked = (file: { readonly path: string }): boolean => path === undefined || file.path === path;
  const changed = changedFiles(reader, before, after).filter(isAsked);
  const starts = await startsBetween(saver, before, after);
  const files = changedBySteps(await listImages(saver, threadId), starts).filter(isAsked);
  const searchUntil = searchEnd();
  for (let position = skip; position < changed.length + files.length; position += 1) {
    const file = changed[position];
    const change = file
      ? await fileChange(reader, file, searchUntil)
      : await timelineChange(files[position - changed.length] as FileTimeline, searchUntil);
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

/** Files that the steps changed, each with its changes in order. */
function changedBySteps(images: readonly StoredImage[], starts: ReadonlySet<string>): FileTimeline[] {
  return timelines(images).flatMap((file) => {
    const links = file.links.filter((link) => starts.has(link.checkpointId) && isOfAgent(link));
    return links.length > 0 ? [{ ...file, links }] : [];
  });
}

/** A file several steps changed is one change: from before the first to after the last. */
async function timelineChange(
  { place, path, links }: FileTimeline,
  searchUntil: number,
): Promise<FileChange | undefined> {
  const [first, last] = [links[0] as Link, links.at(-1) as Link];
  return entryChange({ place, path, before: await first.before(), after: await last.after() }, searchUntil);
}
