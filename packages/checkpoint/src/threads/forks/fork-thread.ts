/** Makes a thread that goes on from a step of another one, or from nothing, on a copy of a directory. */
import { randomUUID } from "node:crypto";
import { DeepwrightError } from "deepwright/errors";
import { undoTreeName } from "deepwright/internal";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { DISK, FORK, listImages, recordImage } from "../images.ts";
import { lineageOf, stateAt } from "../lineage.ts";
import { goneOnFrom, putHead } from "../rewind.ts";
import { StateReader } from "../stored-state.ts";
import { isOfAgent } from "../undo/plan.ts";
import { takeBackIn } from "./copy-state.ts";
import { copyDirectory, type DirectoryCopy } from "./directory-copy.ts";
import type { Fork, ForkOptions, ForkReport } from "./fork-types.ts";

export async function makeFork(
  saver: SharedSaver,
  threadId: string | undefined,
  options: ForkOptions,
): Promise<Fork> {
  const root = undoTreeName(options.root).slice(DISK.length);
  const id = options.as ?? randomUUID();
  if (threadId === undefined && options.step !== undefined)
    throw new DeepwrightError("INVALID_INPUT", "A step needs the thread that it belongs to.");
  const undone = threadId === undefined ? undefined : await changesAfter(saver, threadId, options.step);
  const copy = await copyDirectory(root, options);
  try {
    if (threadId !== undefined && undone !== undefined) {
      const images = await listImages(saver, threadId);
      await takeBackIn({ images, root, copy: copy.directory, undone: undone.isUndone });
      await saver.copyThread(threadId, id);
      if (!undone.isHead) await setHead(saver, id, undone.checkpointId);
    }
  } catch (error) {
    await copy.remove();
    throw error;
  }
  return {
    threadId: id,
    directory: copy.directory,
    left: copy.left,
    close: () => copy.remove(),
    finish: ({ threadId: worked = id, ...report } = {}) => finish(saver, worked, { root, copy, report }),
  };
}

async function changesAfter(saver: SharedSaver, threadId: string, step: number | string | undefined) {
  const reader = new StateReader(saver.storage, false);
  const lineage = await lineageOf(saver.storage, reader, threadId);
  const target = step === undefined ? lineage.head : await stateAt(saver.storage, reader, lineage, step);
  const index = lineage.states.findIndex(({ row }) => row.id === target.row.id);
  if (index < 0)
    throw new DeepwrightError("INVALID_INPUT", "The step is not one of the way that the thread took.");
  const isHead = index === lineage.states.length - 1;
  const later = isHead ? new Set<string>() : goneOnFrom(lineage.states.slice(index));
  return {
    checkpointId: target.row.id,
    isHead,
    isUndone: (link: Parameters<typeof isOfAgent>[0]) => isOfAgent(link) && later.has(link.checkpointId),
  };
}

async function setHead(saver: SharedSaver, threadId: string, checkpointId: string): Promise<void> {
  const claim = await saver.claimThread(threadId, { mode: "refuse" });
  try {
    const reader = new StateReader(saver.storage, false);
    const lineage = await lineageOf(saver.storage, reader, threadId);
    const target = await stateAt(saver.storage, reader, lineage, checkpointId);
    await putHead(saver, lineage, target, { files: undefined, claim, source: "fork" });
  } finally {
    await claim.release();
  }
}

interface Finished {
  readonly root: string;
  readonly copy: DirectoryCopy;
  readonly report: ForkReport;
}

async function finish(saver: SharedSaver, threadId: string, { root, copy, report }: Finished): Promise<void> {
  try {
    const newest = await saver.storage.readTuple(threadId, "", undefined);
    if (newest === undefined) return;
    await recordImage(saver, threadId, {
      checkpointId: newest.checkpoint.id,
      place: FORK + root,
      path: copy.directory,
      before: undefined,
      after: JSON.stringify(report),
    });
    await saver.storage.setFacts(threadId, { cwd: root });
  } finally {
    await copy.remove();
  }
}
