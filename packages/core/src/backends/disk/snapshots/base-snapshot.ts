/** The first snapshot of a directory: every entry with its content, stored in parts. */
import { breathe } from "../time-slices.ts";
import {
  type BaseFacts,
  type EntrySet,
  type KeptImage,
  Parts,
  PLACES,
  type SnapshotLog,
} from "./snapshot-log.ts";
import type { SnapshotLimits } from "./snapshot-policy.ts";
import type { TreeEntry } from "./tree-entry.ts";
import type { EntryFacts, TreeWalk } from "./walk-tree.ts";
import { notKept, type WorkTree } from "./work-tree.ts";

const END = "end";

/** A complete base, by the rows it is stored in. */
export interface Base {
  readonly parts: readonly KeptImage[];
  /** Number of its last row; absent changes come after it. */
  readonly sequence: number;
}

/** The newest base that was stored to its end. */
export function findBase(images: readonly KeptImage[], root: string): Base | undefined {
  const rows = images.filter(({ place }) => place === PLACES.base + root);
  const end = rows.findLast(({ path }) => path.endsWith(`/${END}`));
  if (end === undefined) return undefined;
  const generation = end.path.slice(0, -END.length);
  const parts = rows.filter((row) => row !== end && row.path.startsWith(generation));
  // Parts may be pruned before the end.
  return parts.length === 0 ? undefined : { parts, sequence: end.sequence };
}

/** Facts of all entries as they were when the base was taken. */
export async function factsOfBase({ parts }: Base): Promise<Map<string, EntryFacts>> {
  const found = new Map<string, EntryFacts>();
  for (const part of parts) {
    const { facts } = (await part.before()) as BaseFacts;
    for (const [path, [kind, mode, size, ino, mtimeMs, ctimeMs]] of Object.entries(facts))
      found.set(path, { kind, mode, size, ino, mtimeMs, ctimeMs });
  }
  return found;
}

export interface BaseRequest {
  readonly tree: WorkTree;
  readonly log: SnapshotLog;
  readonly limits: SnapshotLimits;
  readonly root: string;
  readonly walk: TreeWalk;
}

/** Stores the entries of `walk`. Memory holds one part at a time. */
export async function takeBase({ tree, log, limits, root, walk }: BaseRequest): Promise<void> {
  const place = PLACES.base + root;
  const generation = `${Date.now().toString(36)}-${process.pid.toString(36)}`;
  const parts = new Parts();
  let facts: Record<string, BaseFacts["facts"][string]> = {};
  let entries: Record<string, TreeEntry> = {};
  let number = 0;
  let left = limits.totalBytes;
  const flush = async (): Promise<void> => {
    const before: BaseFacts = { facts };
    const after: EntrySet = { entries };
    await log.record({ place, path: `${generation}/${number++}`, before, after });
    [facts, entries] = [{}, {}];
    parts.clear();
  };
  for (const [path, found] of walk.entries) {
    await breathe();
    const entry = await entryFor(tree, path, found, left);
    if (entry === undefined) continue;
    if (entry.type === "file") left -= found.size;
    const { kind, mode, size, ino, mtimeMs, ctimeMs } = found;
    facts[path] = [kind, mode, size, ino, mtimeMs, ctimeMs];
    entries[path] = entry;
    if (parts.add(entry)) await flush();
  }
  await flush();
  await log.record({ place, path: `${generation}/${END}`, before: undefined, after: undefined });
}

/** `left` is how many bytes of content may still be kept. */
export async function entryFor(
  tree: WorkTree,
  path: string,
  facts: EntryFacts,
  left: number,
): Promise<TreeEntry | undefined> {
  if (facts.kind === "ignored") return ignoredEntry(facts);
  if (facts.kind === "file" && facts.size > left && facts.size <= tree.fileBytes)
    return notKept("limit", facts);
  return (await tree.read(path)).entry;
}

function ignoredEntry({ size, ino, mtimeMs, ctimeMs, mode }: EntryFacts): TreeEntry {
  return { type: "not-kept", reason: "ignored", size, mark: `${ino}:${size}:${mtimeMs}:${ctimeMs}:${mode}` };
}
