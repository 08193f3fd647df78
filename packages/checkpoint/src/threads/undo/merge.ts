/** Three-way merge: two changes of the same thing, where they do not touch each other. */
import { sameBytes, sameEntry, type TreeEntry } from "deepwright/internal";
import { diffArrays } from "diff";
import type { Entry } from "./timeline.ts";

/** Absent `merged`: the changes contradict each other. */
export type Merge = { readonly merged: { readonly entry: Entry } | undefined };

const CONFLICT: Merge = { merged: undefined };

/** Makes the change from `base` to `theirs` on `mine`, which was `base` once. */
export function mergeEntries(base: Entry, mine: Entry, theirs: Entry): Merge {
  if (sameEntry(mine, base)) return { merged: { entry: withKnownMode(theirs, mine) } };
  if (sameEntry(theirs, base) || sameEntry(mine, theirs)) return { merged: { entry: mine } };
  if (mine?.type === "file" && theirs?.type === "file") return mergeFiles(base, mine, theirs);
  if (mine?.type === "directory" && theirs?.type === "directory") {
    const mode = mergeMode(base?.type === "directory" ? base : undefined, mine.mode, theirs.mode);
    return { merged: { entry: { type: "directory", mode } } };
  }
  return CONFLICT;
}

type FileEntry = Extract<TreeEntry, { type: "file" }>;

function mergeFiles(base: Entry, mine: FileEntry, theirs: FileEntry): Merge {
  const old = base?.type === "file" ? base : undefined;
  const content = old
    ? mergeContents(old.content, mine.content, theirs.content)
    : sameBytes(mine.content, theirs.content)
      ? mine.content
      : undefined;
  if (content === undefined) return CONFLICT;
  return {
    merged: { entry: { type: "file", mode: mergeMode(old, mine.mode, theirs.mode), content } },
  };
}

/**
 * Mine, unless only theirs changed. Where nothing was before, it is theirs: a restore that was killed left the same
 * content without its mode.
 */
function mergeMode(
  base: { readonly mode: number | undefined } | undefined,
  mine: number | undefined,
  theirs: number | undefined,
): number | undefined {
  if (base === undefined) return theirs ?? mine;
  return mine === base.mode && theirs !== undefined ? theirs : (mine ?? theirs);
}

/** A file of a tool has no known mode: it keeps the one it has. */
function withKnownMode(entry: Entry, like: Entry): Entry {
  const isUnknown = entry?.type === "file" && entry.mode === undefined && like?.type === "file";
  return isUnknown ? { ...entry, mode: like.mode } : entry;
}

type Content = string | Uint8Array;

function mergeContents(base: Content, mine: Content, theirs: Content): Content | undefined {
  if (sameBytes(mine, base)) return theirs;
  if (sameBytes(theirs, base) || sameBytes(mine, theirs)) return mine;
  return typeof base === "string" && typeof mine === "string" && typeof theirs === "string"
    ? mergeText(base, mine, theirs)
    : undefined;
}

/** Lines of `base` from `start` to `end` become `lines`. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** The search for common lines ends after this time: the texts then have too little in common to be merged. */
const SEARCH_MS = 200;

/** Undefined where both changed the same lines, or lines beside each other. */
export function mergeText(base: string, mine: string, theirs: string): string | undefined {
  const lines = linesOf(base);
  const [ours, others] = [hunks(lines, linesOf(mine)), hunks(lines, linesOf(theirs))];
  if (ours === undefined || others === undefined) return undefined;
  const all = [...ours, ...others].sort((one, other) => one.start - other.start || one.end - other.end);
  const merged: string[] = [];
  let at = 0;
  let last: Hunk | undefined;
  for (const hunk of all) {
    if (last !== undefined && isSameHunk(last, hunk)) continue;
    if (last !== undefined && hunk.start <= last.end) return undefined;
    merged.push(...lines.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
    last = hunk;
  }
  return [...merged, ...lines.slice(at)].join("");
}

function isSameHunk(one: Hunk, other: Hunk): boolean {
  return one.start === other.start && one.end === other.end && one.lines.join("") === other.lines.join("");
}

/** With their line ends. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hunks(base: readonly string[], changed: readonly string[]): Hunk[] | undefined {
  const parts = diffArrays([...base], [...changed], { timeout: SEARCH_MS });
  if (parts === undefined) return undefined;
  const found: { start: number; end: number; lines: string[] }[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    const last = found.at(-1);
    const open = last !== undefined && last.end === at ? last : undefined;
    if (added) {
      if (open) open.lines.push(...value);
      else found.push({ start: at, end: at, lines: [...value] });
    } else {
      if (removed && open) open.end += value.length;
      else if (removed) found.push({ start: at, end: at + value.length, lines: [] });
      at += value.length;
    }
  }
  return found;
}
