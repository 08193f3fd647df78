/** Operations of a person on threads, in any storage. */
import type { PruneResult, ThreadFacts } from "../storage/storage.ts";

export type { PruneResult, ThreadFacts };

export interface ThreadPage {
  readonly threads: readonly ThreadFacts[];
  /** Hand it back as `after` for the next page; absent on the last one. */
  readonly next: string | undefined;
}

/** One checkpoint of the thread's own lineage (head to first), newest last. */
export interface ThreadStep {
  /** LangGraph's number; -1 is the input of the first run. A thread that was rewound has one number more than once: the newest lineage counts. */
  readonly step: number;
  readonly checkpointId: string;
  readonly at: string;
  /** `input`, `loop`, `update` (a person or program) or `fork`. */
  readonly source: string;
  readonly messageCount: number;
  /** Paths of files this step changed: in the state, and elsewhere where images of them were kept. */
  readonly changedFiles: readonly string[];
  /** First words of the message the step added, for people. */
  readonly summary: string;
}

export interface ThreadDetails extends ThreadFacts {
  readonly steps: readonly ThreadStep[];
  /** Whether the thread waits for an answer. */
  readonly waiting: boolean;
}

export interface FileChange {
  readonly path: string;
  /** The tree of files outside the state the path is in; absent for a file of the thread's state. */
  readonly place?: string;
  readonly kind: "created" | "changed" | "deleted";
  readonly before: string | Uint8Array | undefined;
  readonly after: string | Uint8Array | undefined;
  /** A unified diff for text; also absent where texts are too large to be compared. */
  readonly patch: string | undefined;
}

/** A change, and how many of the comparison it and those before it are. */
export type PlacedChange = readonly [position: number, change: FileChange];

export interface DiffRange {
  readonly to?: number | string | undefined;
  /** How many files of the comparison are left out before the first. */
  readonly skip?: number | undefined;
  /** Bytes of the files of both states together. Larger ones throw VALUE_TOO_LARGE. Default: no limit. */
  readonly mostBytes?: number | undefined;
  /** Called with the bytes that were read, before anything is compared; it may throw. */
  readonly admit?: ((bytes: number) => void) | undefined;
}

export interface RewindConflict {
  readonly path: string;
  /** As in `FileChange`. */
  readonly place?: string;
  readonly reason: string;
}

/** Files that a rewind leaves alone because no image was kept, or because they may not be restored. */
export interface NotCovered {
  readonly place: string;
  readonly path?: string;
  readonly command?: string;
  readonly reason: string;
}

export interface RewindOptions {
  /** Says what would be done; nothing is written. */
  readonly dryRun?: boolean;
  /**
   * Directories whose files may be put back. Others are only named: what a thread says about files, and an
   * imported one says what it likes, must not decide which files are written.
   */
  readonly roots?: readonly string[];
}

export interface RewindResult {
  /** Files put back (changed, created again or removed). */
  readonly restored: readonly FileChange[];
  /** Files somebody else changed since; they stay as they are. */
  readonly conflicts: readonly RewindConflict[];
  readonly notCovered: readonly NotCovered[];
  /** The new head; absent with `dryRun`. */
  readonly checkpointId: string | undefined;
  /** The head until now: rewinding to it undoes the rewind. */
  readonly previousId: string;
}

export interface PruneOptions {
  /** One thread only. */
  readonly threadId?: string;
  /** How many of the newest checkpoints of each namespace stay, at least 1. */
  readonly keepLatest?: number;
  /** A moment, or an age in seconds. */
  readonly olderThan?: Date | number;
  readonly maxBytes?: number;
  /**
   * Also rewrites the file of the database, so that nothing of what was ever deleted is left in it. Takes as long as
   * a copy of the file, and its size in free space. SQLite only; Postgres has `VACUUM FULL`.
   */
  readonly erase?: boolean;
}

/** `step` is a number of `show`, or a checkpoint id. */
export interface Threads {
  list(options?: { limit?: number; after?: string; cwd?: string }): Promise<ThreadPage>;
  show(threadId: string): Promise<ThreadDetails>;
  delete(threadId: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  rename(threadId: string, title: string): Promise<void>;
  /** Changes of the step in files, or changes between two steps. */
  diff(
    threadId: string,
    step: number | string,
    options?: { to?: number | string },
  ): Promise<readonly FileChange[]>;
  /**
   * The same, a file at a time: each with how many of the comparison it and those before it are. Hand that number back
   * as `skip` to go on behind it. A comparison takes 5 s for the search for what texts have in common; the files behind
   * that are shown as all lines out, all lines in.
   */
  changes(threadId: string, step: number | string, options?: DiffRange): AsyncIterable<PlacedChange>;
  /** Puts messages and files back to where they stood after the step; later edits by people stay. */
  rewind(threadId: string, step: number | string, options?: RewindOptions): Promise<RewindResult>;
  /** The whole thread as lines of one text file, without their line ends. */
  export(threadId: string): AsyncIterable<string>;
  /** All of the thread or nothing. Returns the id it was imported under; throws THREAD_EXISTS. */
  import(lines: AsyncIterable<string> | Iterable<string>, options?: { as?: string }): Promise<string>;
  prune(options: PruneOptions): Promise<PruneResult>;
  backup(path: string): Promise<void>;
}
