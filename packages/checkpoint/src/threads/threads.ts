/** Operations of a person on threads, in any storage. */
import type { ThreadClaim } from "../saver/claim.ts";
import type { PruneResult, ThreadFacts, ThreadSize } from "../storage/storage.ts";

export type { PruneResult, ThreadFacts, ThreadSize };

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
  /** Tool calls of this step that changed files outside the state. */
  readonly calls: readonly string[];
  /** First words of the message the step added, for people. */
  readonly summary: string;
  /** Id of that message. */
  readonly messageId?: string;
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
  /** Describes an entry that is not a regular file: a link, a directory or a mode. */
  readonly detail?: string;
}

/** A change, and how many of the comparison it and those before it are. */
export type PlacedChange = readonly [position: number, change: FileChange];

export interface DiffRange {
  readonly to?: number | string | undefined;
  /** Only this file. */
  readonly path?: string | undefined;
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
  /** Where the content that was wanted is put, beside the file that stays. */
  readonly keptAt?: string;
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
  /** A claim of the thread that the caller holds, and releases. Default: one is taken, and released. */
  readonly claim?: ThreadClaim;
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

/** A part of what a thread did to files outside the state. All that is given must hold. */
export interface RestorePart {
  /** A file, or a directory with all that is in it, as seen from its root. */
  readonly path?: string | undefined;
  /** The id of a tool call, or of a restore. */
  readonly call?: string | undefined;
  /** The name of a subagent, or the beginning of its task's id. */
  readonly agent?: string | undefined;
  readonly step?: number | string | undefined;
  /** Everything behind this step. */
  readonly since?: number | string | undefined;
}

export interface RestoreResult {
  readonly restored: readonly FileChange[];
  readonly conflicts: readonly RewindConflict[];
  readonly notCovered: readonly NotCovered[];
  /** Takes the restore back: give it as `call`. Absent where nothing was written. */
  readonly call: string | undefined;
}

/** The change that wrote a line. */
export interface BlameAuthor {
  /** Absent: the step was never finished. */
  readonly step?: number;
  readonly checkpointId: string;
  readonly at: string;
  /** The tool call, or the restore. */
  readonly call?: string;
  /** The subagent; absent: the agent itself. */
  readonly agent?: string;
  /** Tells several tasks of one subagent apart. */
  readonly task?: string;
  /** Absent: a file tool wrote it. */
  readonly command?: string;
  /** First words of the message that led there. */
  readonly prompt?: string;
  /** A person restored it. */
  readonly isRestore?: boolean;
}

export interface BlameLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** Absent: the line is not of the thread. */
  readonly by?: BlameAuthor;
}

export interface Blame {
  readonly path: string;
  readonly place: string;
  readonly lines: readonly BlameLine[];
}

/** Changes that one call made in a directory. */
export interface BisectChange {
  readonly by: BlameAuthor;
  readonly paths: readonly string[];
}

/** A command that was run on one state of the directory. */
export interface BisectTest {
  /** From 1. */
  readonly number: number;
  readonly exitCode: number;
  /** The last change in that state; absent: the state before all of them. */
  readonly after?: BisectChange;
}

export interface BisectOptions {
  /** The directory whose states are tested. It is only read. */
  readonly root: string;
  /** Runs the command in a copy of the directory. Exit code 0 means good; 124, 126, 127 and null end the search with an error. */
  readonly run: (
    directory: string,
    signal: AbortSignal | undefined,
  ) => Promise<{ readonly exitCode: number | null; readonly output: string }>;
  /** The last step known to be good. Default: the state before the first change. */
  readonly from?: number | string | undefined;
  /** The first step known to be bad. Default: the newest. */
  readonly to?: number | string | undefined;
  readonly onTest?: (test: BisectTest) => void;
  /** The directory that copies are put in. Default: the one for temporary files. */
  readonly copiesIn?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type BisectResult = (
  | { readonly outcome: "found"; readonly first: BisectChange }
  /** The command succeeds after the last step, or fails before the first. */
  | { readonly outcome: "succeeds" | "fails before" }
) & {
  /** Exit code for the first failing state; if none was found, for the state that was tested. */
  readonly exitCode: number;
  readonly output: string;
  /** How often the command was run. */
  readonly tests: number;
  /** Files that could not be put into every state, because somebody else changed them. */
  readonly conflicts: readonly RewindConflict[];
  /** Entries of the directory that could not be copied. */
  readonly left: readonly string[];
};

export interface PruneOptions {
  /** One thread only. */
  readonly threadId?: string;
  /** How many of the newest checkpoints of each namespace stay, at least 1. */
  readonly keepLatest?: number;
  /** A moment, or an age in seconds. */
  readonly olderThan?: Date | number;
  readonly maxBytes?: number;
  /** Only snapshots of directories go; the steps stay, but their files can no longer be put back. Not with `keepLatest`. */
  readonly onlySnapshots?: boolean;
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
  /** Takes back a part of what the thread did to files on disk. Messages stay. */
  restore(threadId: string, part: RestorePart, options?: RewindOptions): Promise<RestoreResult>;
  /** The author of each line of a file below `root`, in its present content. */
  blame(threadId: string, path: string, root: string): Promise<Blame>;
  /** Runs a command on states of the directory and names the first change after which it fails. */
  bisect(threadId: string, options: BisectOptions): Promise<BisectResult>;
  /** The whole thread as lines of one text file, without their line ends. */
  export(threadId: string): AsyncIterable<string>;
  /** All of the thread or nothing. Returns the id it was imported under; throws THREAD_EXISTS. */
  import(lines: AsyncIterable<string> | Iterable<string>, options?: { as?: string }): Promise<string>;
  /** Throws NOT_SUPPORTED for threads in memory. */
  size(threadId: string): Promise<ThreadSize>;
  prune(options: PruneOptions): Promise<PruneResult>;
  backup(path: string): Promise<void>;
}
