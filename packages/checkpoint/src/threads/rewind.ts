/**
 * Takes a thread back to where it stood after a step, as a new head; nothing is removed.
 *
 * Files a person changed since stay: changes that the loop did not write count as a person's, and so do the
 * files an earlier rewind kept for one.
 */
import { type CheckpointMetadata, maxChannelVersion, uuid6 } from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import { CLAIM_KEY, type ThreadClaim } from "../saver/claim.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { changeBetween, searchEnd } from "./file-changes.ts";
import { fileContent, sameContent } from "./file-content.ts";
import { type Lineage, lineageOf, stateAt } from "./lineage.ts";
import { changedFiles, FILES } from "./stored-files.ts";
import { StateReader, type StoredState } from "./stored-state.ts";
import type { FileChange, RewindConflict, RewindOptions, RewindResult } from "./threads.ts";
import { notCoveredBy } from "./undo/not-covered.ts";
import { recorder, settledImages } from "./undo/record-restore.ts";
import { type FilesReport, restoreFiles } from "./undo/restore-files.ts";
import { openRoots, type Roots } from "./undo/roots.ts";
import { timelines } from "./undo/timeline.ts";

type Files = Record<string, unknown>;

/** Throws THREAD_BUSY while a run holds the thread, unless nothing is to be written. */
export async function rewindThread(
  saver: SharedSaver,
  threadId: string,
  step: number | string,
  { dryRun = false, roots = [], claim: held }: RewindOptions,
): Promise<RewindResult> {
  const open = await openRoots(roots);
  if (dryRun) return rewind(saver, threadId, step, open, undefined);
  if (held) return rewind(saver, threadId, step, open, held);
  const claim = await saver.claimThread(threadId, { mode: "refuse" });
  try {
    return await rewind(saver, threadId, step, open, claim);
  } finally {
    await claim.release();
  }
}

/** Without a claim nothing is written. */
async function rewind(
  saver: SharedSaver,
  threadId: string,
  step: number | string,
  roots: Roots,
  claim: ThreadClaim | undefined,
): Promise<RewindResult> {
  const { storage } = saver;
  const reader = new StateReader(storage, false);
  const lineage = await lineageOf(storage, reader, threadId);
  const target = await stateAt(storage, reader, lineage, step);
  refuseDeltas(target);
  const kept = await changedByPeople(saver, reader, lineage, target);
  const targetFiles = await filesAt(saver, target);
  const headFiles = await filesAt(saver, lineage.head);
  const files = mergedFiles(targetFiles, headFiles, kept);
  const conflicts = conflictsOf(targetFiles, headFiles, kept);
  // Before the thread: when this is broken off, doing it again does the rest.
  const way = await stepsBetween(saver, reader, lineage, target);
  const elsewhere = await rewindFiles(saver, lineage, way, roots, claim);
  return {
    restored: [...(await changesBetween(headFiles, files)), ...elsewhere.restored],
    conflicts: [...conflicts, ...elsewhere.conflicts],
    notCovered: elsewhere.notCovered,
    checkpointId:
      claim &&
      (await putHead(saver, lineage, target, {
        files: conflicts.length > 0 ? files : undefined,
        claim,
        source: "fork",
      })),
    previousId: lineage.head.row.id,
  };
}

/** Their states are made of the writes of their ancestors: a state without those writes cannot be said. */
function refuseDeltas({ metadata, row }: StoredState): void {
  const counters = metadata.counters_since_delta_snapshot;
  if (typeof counters !== "object" || counters === null || Object.keys(counters).length === 0) return;
  throw new DeepwrightError(
    "NOT_SUPPORTED",
    `The thread '${row.threadId}' belongs to a graph with delta channels, which cannot be rewound.`,
    { hint: "Run the graph from the checkpoint instead: {configurable: {checkpoint_id}}." },
  );
}

const PAGE = 50;

/** Paths of files that anything but the loop changed on the way from the target to the head. */
async function changedByPeople(
  saver: SharedSaver,
  reader: StateReader,
  lineage: Lineage,
  target: StoredState,
): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  const { states } = lineage;
  const shared = await lastShared(saver, reader, lineage, target);
  for (let start = shared + 1; start < states.length; start += PAGE) {
    const page = states.slice(start, start + PAGE);
    await reader.loadChannels([...states.slice(Math.max(start - 1, 0), start), ...page], [FILES]);
    for (const [i, state] of page.entries()) {
      const before = states[start + i - 1];
      if (!isByPeople(before, state)) continue;
      for (const { path } of changedFiles(reader, before, state)) paths.add(path);
    }
  }
  return paths;
}

/** Checkpoints whose steps are taken back, and those whose steps are done again. */
interface Way {
  readonly undone: ReadonlySet<string>;
  readonly redone: ReadonlySet<string>;
}

async function rewindFiles(
  saver: SharedSaver,
  { threadId, head }: Lineage,
  { undone, redone }: Way,
  roots: Roots,
  claim: ThreadClaim | undefined,
): Promise<FilesReport> {
  const images = await settledImages(saver, threadId, claim, roots.paths, head.row.id);
  const { unwritten, ...report } = await restoreFiles({
    files: timelines(images),
    choice: {
      undone: ({ checkpointId }) => undone.has(checkpointId),
      redone: ({ checkpointId }) => redone.has(checkpointId),
    },
    roots: roots.paths,
    record: claim && recorder(saver, claim, head.row.id, { kind: "rewind" }),
  });
  refuseHalf(unwritten);
  const missing = await notCoveredBy({
    images,
    isTouched: ({ checkpointId }) => undone.has(checkpointId) || redone.has(checkpointId),
    changedSince: roots.changedSince,
  });
  return { ...report, notCovered: [...report.notCovered, ...missing] };
}

const MOST_NAMED = 5;

/** The messages stay where they are, so that the same rewind can be asked for again. */
function refuseHalf(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const named = paths.slice(0, MOST_NAMED).join(", ");
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  throw new DeepwrightError("STORAGE_FULL", `Not written: ${named}${more}. Messages are unchanged.`, {
    hint: "Make the disk writable and rewind again: it does the rest.",
  });
}

/** The way from the head to the target, by the checkpoints its steps began with. */
async function stepsBetween(
  saver: SharedSaver,
  reader: StateReader,
  lineage: Lineage,
  target: StoredState,
): Promise<Way> {
  const shared = await lastShared(saver, reader, lineage, target);
  const branch = await lineageOf(saver.storage, reader, lineage.threadId, target.row.id);
  const fork = branch.states.findIndex(({ row }) => row.id === lineage.states[shared]?.row.id);
  const redone = goneOnFrom(branch.states.slice(Math.max(fork, 0)));
  // What began at the target's own end is not part of it.
  redone.delete(target.row.id);
  return { undone: goneOnFrom(lineage.states.slice(Math.max(shared, 0))), redone };
}

/**
 * The ids of the states the agent went on from. One that a rewind went on from is none of them here: what
 * began there belongs to the branch that was left.
 */
export function goneOnFrom(states: readonly StoredState[]): Set<string> {
  const left = states.filter((_, i) => states[i + 1]?.source !== "fork");
  return new Set(left.map(({ row }) => row.id));
}

/** The index in the lineage of the last checkpoint the target came from; -1 if all of them are gone. */
async function lastShared(
  { storage }: SharedSaver,
  reader: StateReader,
  { threadId, states }: Lineage,
  target: StoredState,
): Promise<number> {
  const direct = states.findIndex(({ row }) => row.id === target.row.id);
  if (direct >= 0) return direct;
  const branch = await lineageOf(storage, reader, threadId, target.row.id);
  const ids = new Set(branch.states.map(({ row }) => row.id));
  return states.findLastIndex(({ row }) => ids.has(row.id));
}

const START = "__start__";

/** An input is stored first and taken into the channels by the next step, which calls itself one of the loop. */
function isByPeople(before: StoredState | undefined, { source }: StoredState): boolean {
  return before === undefined || source !== "loop" || before.channels.has(START);
}

async function filesAt({ storage }: SharedSaver, state: StoredState): Promise<Files> {
  const value = state.channels.get(FILES);
  if (!value) return {};
  const reader = new StateReader(storage);
  await reader.loadChannels([state], [FILES]);
  return reader.build(value) as Files;
}

function mergedFiles(target: Files, head: Files, kept: ReadonlySet<string>): Files {
  const files = { ...target };
  for (const path of kept)
    if (Object.hasOwn(head, path)) files[path] = head[path];
    else delete files[path];
  return files;
}

function conflictsOf(target: Files, head: Files, kept: ReadonlySet<string>): RewindConflict[] {
  return [...kept]
    .filter((path) => !sameContent(contentIn(target, path), contentIn(head, path)))
    .sort()
    .map((path) => ({ path, reason: reasonOf(Object.hasOwn(target, path), Object.hasOwn(head, path)) }));
}

function reasonOf(wasThere: boolean, isThere: boolean): string {
  const what = !isThere ? "deleted" : wasThere ? "changed" : "added";
  return `It was ${what} since by a person or program, not by the agent.`;
}

function contentIn(files: Files, path: string): string | Uint8Array | undefined {
  return Object.hasOwn(files, path) ? fileContent(files[path]) : undefined;
}

async function changesBetween(before: Files, after: Files): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  const until = searchEnd();
  for (const path of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [from, to] = [contentIn(before, path), contentIn(after, path)];
    const change = await changeBetween(path, from, to, undefined, until);
    if (change) changes.push(change);
  }
  return changes;
}

interface NewHead {
  /** Where they differ from those of the target. */
  readonly files: Files | undefined;
  readonly claim: ThreadClaim;
  readonly source: "fork" | "update";
}

/** Returns the id of the new head. */
export async function putHead(
  saver: SharedSaver,
  { threadId, head }: Lineage,
  target: StoredState,
  { files, claim, source }: NewHead,
): Promise<string> {
  const configurable = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: target.row.id };
  const tuple = await saver.getTuple({ configurable });
  if (!tuple) throw new DeepwrightError("THREAD_BUSY", `The thread '${threadId}' was pruned meanwhile.`);
  const { checkpoint } = tuple;
  const id = idAfter(head.row.id, head.step + 1);
  const next = { ...checkpoint, id, ts: new Date().toISOString() };
  if (files) {
    next.channel_values = { ...checkpoint.channel_values, [FILES]: files };
    const newest = maxChannelVersion(...Object.values(checkpoint.channel_versions)) as number | undefined;
    next.channel_versions = { ...checkpoint.channel_versions, [FILES]: saver.getNextVersion(newest) };
  }
  const metadata: CheckpointMetadata = { source, step: head.step + 1, parents: {} };
  await saver.put(
    { configurable: { ...configurable, [CLAIM_KEY]: claim } },
    next,
    metadata,
    next.channel_versions,
  );
  return id;
}

const TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;
const TIME_DIGITS = 15;

/** Sorts after `head` even where the clock that made that one was ahead of ours. */
export function idAfter(head: string, step: number): string {
  const id = uuid6(step);
  const [, high, middle, low] = TIME.exec(head) ?? [];
  if (id > head || high === undefined) return id > head ? id : `${head}~`;
  const time = (BigInt(`0x${high}${middle}${low}`) + 1n).toString(16).padStart(TIME_DIGITS, "0");
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-6${time.slice(12)}${id.slice(18)}`;
}
