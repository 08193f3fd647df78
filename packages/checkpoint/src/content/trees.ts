/**
 * Lists and maps as shallow trees, so that a change writes one leaf and the path to it.
 *
 * A list is cut by position, a map where the hash of a key says so: adding or removing a key moves no
 * others to another leaf.
 */
import { Handle, KIND } from "./handle.ts";

export const LEAF_SIZE = 32;
const BRANCH_SIZE = 32;
const MOST_KEYS = 64;

/** The nodes above the leaves of one stored list or map; handed on to the next version of it. */
export interface Tree {
  readonly root: Handle;
  readonly levels: readonly (readonly Handle[])[];
}

/** Joins leaves (at least one) to a tree; nodes of `before` with the same children are taken over. */
export function joinLeaves(leaves: readonly Handle[], branchKind: number, before: Tree | undefined): Tree {
  const levels: Handle[][] = [[...leaves]];
  for (let level = levels[0] as Handle[]; level.length > 1; ) {
    const above = branches(level, branchKind, before, levels.length);
    levels.push(above);
    level = above;
  }
  return { root: (levels.at(-1) as Handle[])[0] as Handle, levels };
}

function branches(
  level: readonly Handle[],
  kind: number,
  before: Tree | undefined,
  height: number,
): Handle[] {
  const old = before?.levels[height - 1];
  const result: Handle[] = [];
  for (let start = 0; start < level.length; start += BRANCH_SIZE) {
    const end = Math.min(start + BRANCH_SIZE, level.length);
    const known =
      old && sameSlice(level, old, start, end) ? before?.levels[height]?.[start / BRANCH_SIZE] : undefined;
    result.push(known ?? new Handle(kind, level.slice(start, end), ""));
  }
  return result;
}

function sameSlice(left: readonly unknown[], right: readonly unknown[], start: number, end: number): boolean {
  if (Math.min(start + BRANCH_SIZE, right.length) !== end) return false;
  for (let i = start; i < end; i += 1) if (left[i] !== right[i]) return false;
  return true;
}

/** The keys of each leaf of a map; at least one group, be it empty. */
export function keyGroups(keys: readonly string[]): string[][] {
  const groups: string[][] = [];
  let group: string[] = [];
  for (const key of keys) {
    group.push(key);
    if (group.length === MOST_KEYS || endsGroup(key)) {
      groups.push(group);
      group = [];
    }
  }
  if (group.length > 0 || groups.length === 0) groups.push(group);
  return groups;
}

/** One key in 24 on average; depends on the key alone. */
function endsGroup(key: string): boolean {
  let mixed = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) mixed = Math.imul(mixed ^ key.charCodeAt(i), 0x01000193);
  // Without this, keys of one pattern may have no end among them at all.
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % 24 === 0;
}

export const BRANCH_OF = { list: KIND.lists, map: KIND.maps } as const;
