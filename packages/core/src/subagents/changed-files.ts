/** A child's changes to its files, and their merge with changes that others make at the same time. */
import type { AnyFileData, FilesUpdate } from "../backends/backend.ts";
import type { FilesState } from "../backends/state/files-value.ts";
import type { TaskFiles } from "../backends/state/pending-files.ts";
import { safeName } from "../context/areas.ts";
import { sameValue } from "./same-value.ts";
import { keptAside, notDeleted } from "./words.ts";

/** Files that are the same objects are not looked at. null: it was deleted. */
export function changedFiles(start: FilesState, end: FilesState): Map<string, AnyFileData | null> {
  const changes = new Map<string, AnyFileData | null>();
  if (start === end) return changes;
  for (const path in end)
    if (end[path] !== start[path] && !sameValue(end[path], start[path])) changes.set(path, end[path] ?? null);
  for (const path in start) if (!Object.hasOwn(end, path)) changes.set(path, null);
  return changes;
}

export interface FilesBack {
  readonly update: FilesUpdate;
  /** Paths in it that the child changed, as it knew them. */
  readonly paths: readonly string[];
  /** Text for the model about files that others changed too. */
  readonly notes: readonly string[];
}

export interface ChildFiles {
  /** The present files, including changes by other calls of the turn. */
  readonly now: TaskFiles;
  /** Files at the child's start; undefined when it began in an earlier run. */
  readonly start: FilesState | undefined;
  readonly end: FilesState;
  readonly callId: string;
}

/**
 * A file that another call of the turn has changed meanwhile stays as that one left it; the child's version is
 * put beside it. Nothing the child did not touch is in the update.
 */
export function filesBack({ now, start, end, callId }: ChildFiles): FilesBack {
  const update: Record<string, AnyFileData | null> = {};
  const paths: string[] = [];
  const notes: string[] = [];
  for (const [path, data] of changedFiles(start ?? now.record(), end)) {
    if (start === undefined && isKnown(now, path, data)) continue;
    if (sameValue(now.files.get(path) ?? null, data)) continue;
    paths.push(path);
    if (!isContested(now, start, path)) update[path] = data as AnyFileData;
    else if (data === null) notes.push(notDeleted(path));
    else {
      const aside = `${path}.conflict-${safeName(callId)}`;
      update[aside] = data;
      notes.push(keptAside(path, aside));
    }
  }
  return { update: update as FilesUpdate, paths, notes };
}

/** Whether others made this version: the child only received it, or does not have it yet. */
function isKnown(now: TaskFiles, path: string, data: AnyFileData | null): boolean {
  return now.versions(path).some((version) => sameValue(version ?? null, data));
}

function isContested(now: TaskFiles, start: FilesState | undefined, path: string): boolean {
  if (now.isTaken(path)) return true;
  return start === undefined ? now.versions(path).length > 1 : now.files.get(path) !== start[path];
}
