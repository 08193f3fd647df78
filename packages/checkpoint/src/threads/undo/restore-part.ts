/** Takes back a part of what a thread did to files outside the state: a file, a call, a step, a subagent's work. */
import { randomBytes } from "node:crypto";
import { DeepwrightError } from "deepwright/errors";
import type { ThreadClaim } from "../../saver/claim.ts";
import type { ImageAuthor, StoredImage } from "../../saver/file-image.ts";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { pathsInSet, TREE } from "../images.ts";
import { type Lineage, lineageOf, stateAt } from "../lineage.ts";
import { goneOnFrom, putHead } from "../rewind.ts";
import { StateReader } from "../stored-state.ts";
import type { RestorePart, RestoreResult, RewindOptions } from "../threads.ts";
import { notCoveredBy } from "./not-covered.ts";
import { recorder, settledImages } from "./record-restore.ts";
import { restoreFiles } from "./restore-files.ts";
import { openRoots, type Roots } from "./roots.ts";
import { type Link, timelines } from "./timeline.ts";

/** Throws THREAD_BUSY while a run holds the thread, unless nothing is to be written. */
export async function restorePart(
  saver: SharedSaver,
  threadId: string,
  part: RestorePart,
  { dryRun = false, roots = [], claim: held }: RewindOptions,
): Promise<RestoreResult> {
  const open = await openRoots(roots);
  if (dryRun) return restore(saver, threadId, part, open, undefined);
  if (held) return restore(saver, threadId, part, open, held);
  const claim = await saver.claimThread(threadId, { mode: "refuse" });
  try {
    return await restore(saver, threadId, part, open, claim);
  } finally {
    await claim.release();
  }
}

async function restore(
  saver: SharedSaver,
  threadId: string,
  part: RestorePart,
  roots: Roots,
  claim: ThreadClaim | undefined,
): Promise<RestoreResult> {
  const reader = new StateReader(saver.storage, false);
  const lineage = await lineageOf(saver.storage, reader, threadId);
  const isChosen = await chooser(saver, reader, lineage, part);
  const checkpointId = lineage.head.row.id;
  const images = await settledImages(saver, threadId, claim, roots.paths, checkpointId);
  const unknown = unknownPart(images, part);
  if (unknown) throw new DeepwrightError("INVALID_INPUT", `The thread changed no files ${unknown}.`);
  const all = timelines(images);
  const files = part.path === undefined ? all : all.filter(({ path }) => isBelow(path, part.path as string));
  const id = `restore-${randomBytes(4).toString("hex")}`;
  const { unwritten: _, ...report } = await restoreFiles({
    files,
    choice: { undone: isChosen, redone: () => false },
    roots: roots.paths,
    record: claim && recorder(saver, claim, checkpointId, { kind: "restore", call: id }),
  });
  const missing = await notCoveredBy({
    images,
    isTouched: ({ by = {}, ...image }) => part.path === undefined && isChosen({ ...image, by }),
    changedSince: roots.changedSince,
  });
  const isWritten = claim !== undefined && report.restored.length > 0;
  // Work of a run that was broken off waits at the head: a new one would lose it.
  if (isWritten && lineage.writes.length === 0)
    await putHead(saver, lineage, lineage.head, { files: undefined, claim, source: "update" });
  return {
    ...report,
    notCovered: [...report.notCovered, ...missing],
    call: isWritten ? id : undefined,
  };
}

/** Words for a path, call or agent of which nothing is recorded: a wrong name is not taken for an empty result. */
function unknownPart(images: readonly StoredImage[], { path, call, agent }: RestorePart): string | undefined {
  const paths = (image: StoredImage): readonly string[] =>
    image.place.startsWith(TREE) ? pathsInSet(image.path) : [image.path];
  const isKnown = (is: (image: StoredImage) => boolean): boolean => images.some(is);
  if (path !== undefined && !isKnown((image) => paths(image).some((one) => isBelow(one, path))))
    return `at '${path}'`;
  if (call !== undefined && !isKnown(({ by }) => by?.call === call)) return `by the call '${call}'`;
  if (agent !== undefined && !isKnown(({ by = {} }) => isOf(by, agent))) return `by an agent '${agent}'`;
  return undefined;
}

function isOf({ agent, task }: ImageAuthor, given: string): boolean {
  return agent === given || task?.startsWith(given) === true;
}

type Chosen = Pick<Link, "checkpointId" | "by">;

/** Selects the changes that belong to the part. Branches that a rewind left are excluded. */
async function chooser(
  saver: SharedSaver,
  reader: StateReader,
  lineage: Lineage,
  { path, call, agent, step, since }: RestorePart,
): Promise<(link: Chosen) => boolean> {
  if ([path, call, agent, step, since].every((one) => one === undefined))
    throw new DeepwrightError(
      "INVALID_INPUT",
      "Say what to restore: a path, a call, an agent, a step or since when.",
    );
  const done = goneOnFrom(lineage.states);
  const begun = step === undefined ? undefined : await beginOf(saver, reader, lineage, step);
  const from = since === undefined ? undefined : await stateAt(saver.storage, reader, lineage, since);
  const index = lineage.states.findIndex(({ row }) => row.id === from?.row.id);
  if (from !== undefined && index < 0)
    throw new DeepwrightError("INVALID_INPUT", "The step is not one of the way that the thread took.");
  const after = from === undefined ? undefined : goneOnFrom(lineage.states.slice(index));
  return ({ checkpointId, by }) =>
    done.has(checkpointId) &&
    (call === undefined || by.call === call) &&
    (agent === undefined || isOf(by, agent)) &&
    (begun === undefined || checkpointId === begun) &&
    (after === undefined || after.has(checkpointId));
}

/** The checkpoint that the step began with. */
async function beginOf(
  saver: SharedSaver,
  reader: StateReader,
  lineage: Lineage,
  step: number | string,
): Promise<string> {
  const { row } = await stateAt(saver.storage, reader, lineage, step);
  if (row.parent !== undefined) return row.parent;
  throw new DeepwrightError("INVALID_INPUT", "The step has none before it, so it changed no files.");
}

/** The file itself, or what lies in the directory. */
function isBelow(path: string, given: string): boolean {
  const wanted = `/${given}`.replaceAll(/\/(\.?\/)+/g, "/").replace(/\/$/, "");
  return wanted === "" || path === wanted || path.startsWith(`${wanted}/`);
}
