/**
 * Heads of SKILL.md files, cached for all agents of this process: a file that did not change is not read again.
 *
 * Only for backends whose files are the same in every run. Files in the state of a thread, or in a store by the user
 * of the run, are read in each run: there one path with one date may be two files.
 */

import type { BackendProtocol } from "../backends/backend.ts";
import type { WithChildFiles } from "../backends/child-files.ts";
import type { RuntimeBackend } from "../backends/resolve.ts";
import { CHILD_FILES } from "../internal-symbols.ts";
import type { Candidate } from "./find-skills.ts";
import type { Head } from "./read-heads.ts";

const MAX_HEADS = 10_000;
/** Milliseconds. Two changes of a file within this time may leave the same date and size. */
const UNSETTLED = 50;

export interface HeadCache {
  /** Whether anything is kept. */
  readonly isLasting: boolean;
  has(stamp: string): boolean;
  get(candidate: Candidate): Head | undefined;
  /** `now` is when the reading began. */
  keep(candidate: Candidate, head: Head, now: number): void;
}

/** Stamps of files on a disk identify the file through any backend. */
const onDisk = new Map<string, Head>();
const byBackend = new WeakMap<object, Map<string, Head>>();

/** `instance` is the backend before it knows the run. */
export function headCacheFor(instance: BackendProtocol): HeadCache {
  if ((instance as WithChildFiles)[CHILD_FILES] !== undefined) return cacheIn(onDisk, ({ stamp }) => stamp);
  if ((instance as Partial<RuntimeBackend>).withRuntime !== undefined) return NO_CACHE;
  const heads = byBackend.get(instance) ?? new Map<string, Head>();
  byBackend.set(instance, heads);
  return cacheIn(heads, ({ stamp, path }) => stamp && `${stamp}:${path}`);
}

function cacheIn(heads: Map<string, Head>, keyOf: (candidate: Candidate) => string | undefined): HeadCache {
  return {
    isLasting: true,
    has: (stamp) => heads.has(stamp),
    get: (candidate) => heads.get(keyOf(candidate) ?? ""),
    keep: (candidate, head, now) => {
      const key = keyOf(candidate);
      const isSettled = candidate.modified === undefined || now - candidate.modified > UNSETTLED;
      if (key === undefined || !isSettled) return;
      if (heads.size >= MAX_HEADS) heads.clear();
      heads.set(key, head);
    },
  };
}

const NO_CACHE: HeadCache = { isLasting: false, has: () => false, get: () => undefined, keep: () => {} };
