/** Where snapshots of a directory are kept: rows beside the thread of a run. */
import type { ImageAuthor, SnapshotSaver, StoredImageRow } from "../../undo-log.ts";
import type { TreeEntry } from "./tree-entry.ts";
import type { EntryFacts } from "./walk-tree.ts";

export type KeptImage = StoredImageRow;

export interface SnapshotLog {
  record(image: {
    readonly place: string;
    readonly path: string;
    readonly before: unknown;
    readonly after: unknown;
    readonly by?: ImageAuthor;
    readonly checkpointId?: string;
  }): Promise<void>;
  /** All of the thread, in the order they were recorded. Contents are read when asked for. */
  images(): Promise<readonly KeptImage[]>;
}

/** `config` names the thread and carries the claim on it. `checkpointId` is that of rows which name none. */
export function snapshotLogOf(
  saver: SnapshotSaver,
  threadId: string,
  config: object,
  checkpointId: string,
): SnapshotLog {
  return {
    record: (image) => saver.recordImage(config, { checkpointId, ...image }),
    images: () => saver.imagesOf(threadId),
  };
}

/** Beginnings of places; the rest is the real path of the directory. */
export const PLACES = {
  /** One file, written by a tool. */
  disk: "disk:",
  /** A set of changed entries; the path is a JSON list of their paths. */
  tree: "tree:",
  /** A part of the first snapshot. */
  base: "base:",
  /** A command that is about to run. */
  command: "command:",
  /** A command whose changes were recorded. */
  walked: "walked:",
} as const;

/** Sides of a set of changes. A path that is absent in one of them had nothing, or has nothing now. */
export interface EntrySet {
  readonly entries: Readonly<Record<string, TreeEntry>>;
}

/** Facts of the entries of one part, as arrays: kind, mode, size, inode, times. */
export interface BaseFacts {
  readonly facts: Readonly<
    Record<string, readonly [EntryFacts["kind"], number, number, number, number, number]>
  >;
}

/** Sentences for people about content that a snapshot could not keep. */
export interface SnapshotReport {
  readonly notes: readonly string[];
}

/** Empty for what is no list: stored text may come from elsewhere. */
export function pathsOfSet(path: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(path);
    return Array.isArray(paths) ? paths.filter((one) => typeof one === "string") : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Collects entries until they are worth a row of their own. */
export class Parts {
  #bytes = 0;
  #count = 0;

  /** True when what was collected should be stored now. */
  add(...entries: readonly (TreeEntry | undefined)[]): boolean {
    this.#count += 1;
    for (const entry of entries) if (entry?.type === "file") this.#bytes += entry.content.length;
    return this.#count >= MOST_ENTRIES || this.#bytes >= MOST_BYTES;
  }

  clear(): void {
    this.#bytes = 0;
    this.#count = 0;
  }
}

const MOST_ENTRIES = 256;
const MOST_BYTES = 4 * 1024 * 1024;
