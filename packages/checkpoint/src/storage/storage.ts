/**
 * A place where threads last: memory, SQLite or Postgres.
 *
 * A storage stores *objects* (content under its hash, each with references to other objects), rows of
 * checkpoints and writes that refer to objects, and a small row of facts per thread. It understands
 * neither messages nor channels. An object belongs to the thread that stored it first; a thread that
 * uses an object of another thread has a share in it. It goes when no thread owns or shares it.
 *
 * Every method is one transaction. Expected failures are thrown as `DeepwrightError`.
 */

/** Content on its way into storage, or read from it. */
export interface ObjectContent {
  /** Meaning of the body; a storage only keeps it. */
  readonly kind: number;
  /** Ids of other objects. In a batch a negative number `-(i + 1)` is the batch's own object `i`. */
  readonly refs: readonly number[];
  /** Text is stored as UTF-8 and comes back as text, bytes come back as bytes. */
  readonly body: string | Uint8Array;
}

export interface NewObject extends ObjectContent {
  /** 20 bytes, of `contentHash`. Same hash, same content (kind, body and the content of all refs). */
  readonly hash: Uint8Array;
}

export interface StoredObject extends ObjectContent {
  readonly id: number;
}

export interface CheckpointRow {
  readonly threadId: string;
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | undefined;
  /** The checkpoint of the thread's root namespace this one belongs to; absent in the root namespace. */
  readonly root: string | undefined;
  readonly refs: readonly number[];
  readonly body: string;
}

/** Writes of one task on top of a checkpoint. */
export interface WritesRow {
  readonly taskId: string;
  readonly entries: readonly WriteEntry[];
}

export interface WriteEntry {
  /** Index among the task's writes; negative for the special channels, whose writes replace earlier ones. */
  readonly index: number;
  readonly channel: string;
  readonly body: string;
  readonly refs: readonly number[];
}

/** Facts that a list of threads shows. Times are milliseconds since 1970. */
export interface ThreadFacts {
  readonly threadId: string;
  readonly title: string | undefined;
  readonly firstPrompt: string | undefined;
  readonly messageCount: number;
  readonly checkpointCount: number;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Absent fields stay as they are; `firstPrompt` is only set once. */
export interface FactChanges {
  readonly title?: string;
  readonly firstPrompt?: string;
  readonly messageCount?: number;
  readonly model?: string;
  readonly cwd?: string;
}

/** Rows of one namespace. */
export interface NewRows {
  readonly namespace: string;
  readonly checkpoint?: Omit<CheckpointRow, "threadId" | "namespace">;
  /** Existing regular entries stay, special ones (index < 0) are replaced. */
  readonly writes?: WritesRow & { readonly checkpointId: string };
  readonly image?: NewImage;
}

/** Everything in it is stored, or nothing. */
export interface PutBatch extends NewRows {
  readonly threadId: string;
  /** The thread's epoch in which the stored ids in refs were learnt. Objects may be gone in a later one. */
  readonly epoch: number;
  /** The claim under which this is written. */
  readonly fence: number | undefined;
  readonly now: number;
  readonly objects: readonly NewObject[];
  /** Further rows, stored after the batch's own. */
  readonly more?: readonly NewRows[];
  readonly facts?: FactChanges;
}

export type PutResult =
  /** Ids of the batch's objects, in order. */
  | { readonly stale: false; readonly ids: readonly number[]; readonly epoch: number }
  /** Nothing was written: an id in refs no longer exists. */
  | { readonly stale: true; readonly epoch: number };

export interface TupleRows {
  readonly checkpoint: CheckpointRow;
  /** In the order in which the tasks first wrote; entries by index. */
  readonly writes: readonly WritesRow[];
}

export interface RowQuery {
  readonly threadId?: string;
  readonly namespace?: string;
  readonly checkpointId?: string;
  /** Only ids that sort before this one. */
  readonly before?: string;
  /** Rows after this one in the order of the list: threads and namespaces ascending, ids descending. */
  readonly after?: { readonly threadId: string; readonly namespace: string; readonly id: string };
  readonly limit: number;
}

/** A file outside the thread's state before a run changed it. */
export interface NewImage {
  /** The checkpoint of the step that changed it. */
  readonly checkpointId: string;
  /** Tree of files that contains the path, e.g. a root directory. */
  readonly place: string;
  readonly path: string;
  /** Reference to the content before; `undefined` if there was no file. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

export interface ImageRow extends NewImage {
  readonly sequence: number;
  readonly at: number;
}

export interface ThreadQuery {
  readonly limit: number;
  /** Continue after this thread: newest first by `updatedAt`, ties by `threadId` ascending. */
  readonly after?: { readonly updatedAt: number; readonly threadId: string };
  readonly cwd?: string;
}

export interface PruneQuery {
  readonly threadId?: string;
  /** Newest checkpoints kept per namespace; at least 1. */
  readonly keepLatest?: number;
  /** Checkpoints and images stored before this moment go. */
  readonly olderThan?: number;
  /** The oldest checkpoints of all threads go until the content is at most this large. */
  readonly maxBytes?: number;
  /** Only images go; `keepLatest` does not count then. */
  readonly onlyImages?: boolean;
  readonly now: number;
}

export interface PruneResult {
  readonly checkpoints: number;
  readonly objects: number;
  /** Content freed, in bytes. */
  readonly bytes: number;
}

export interface ThreadSize {
  /** The whole thread. Content that several threads use counts for its owner. */
  readonly bytes: number;
  /** The part that only its snapshots of directories need. */
  readonly snapshotBytes: number;
}

export type ClaimAnswer =
  | { readonly held: true; readonly fence: number }
  | { readonly held: false; readonly holder: string; readonly remainingMs: number };

export interface StorageCounts {
  /** Lengths of everything bound in inserts and updates since opening: UTF-8 text, blobs, 8 per number. */
  readonly bytesWritten: number;
}

export interface ThreadStorage {
  put(batch: PutBatch): Promise<PutResult>;
  /** Newest by id when `checkpointId` is absent. */
  readTuple(
    threadId: string,
    namespace: string,
    checkpointId: string | undefined,
  ): Promise<TupleRows | undefined>;
  listRows(query: RowQuery): Promise<readonly TupleRows[]>;
  /**
   * The given objects and all objects they lead to, except ids in `known` and objects that only those lead to. Throws
   * STORAGE_CORRUPT for a damaged object, and VALUE_TOO_LARGE, before it reads them, when they have more than
   * `mostBytes`.
   */
  loadObjects(
    ids: readonly number[],
    known?: readonly number[],
    mostBytes?: number,
  ): Promise<readonly StoredObject[]>;
  /** The epoch of a thread; 0 if it does not exist. */
  epochOf(threadId: string): Promise<number>;

  /** Throws THREAD_BUSY under another's claim. */
  deleteThread(threadId: string, fence?: number): Promise<void>;
  /** Everything of `from` under the name `to`; throws THREAD_NOT_FOUND or THREAD_EXISTS. */
  copyThread(from: string, to: string, now: number): Promise<void>;
  /** The newest checkpoint of each namespace stays, and those of children of kept checkpoints. */
  prune(query: PruneQuery): Promise<PruneResult>;

  listThreads(query: ThreadQuery): Promise<readonly ThreadFacts[]>;
  thread(threadId: string): Promise<ThreadFacts | undefined>;
  setFacts(threadId: string, facts: FactChanges): Promise<void>;

  listImages(threadId: string): Promise<readonly ImageRow[]>;

  /** Takes the claim if it is free or run out, or extends it when `fence` is the current one. */
  claim(threadId: string, holder: string, ttlMs: number, fence?: number): Promise<ClaimAnswer>;
  release(threadId: string, fence: number): Promise<void>;

  counts(): Promise<StorageCounts>;
  /** Bytes on disk (or of content, in memory) after freeing unused space. */
  size(): Promise<number>;
  /** Absent where threads are in memory. */
  threadSize?(threadId: string): Promise<ThreadSize>;
  /** Removes all traces of deleted data from the files. Absent if the database has its own tools. */
  erase?(): Promise<void>;
  /** A consistent copy while others read and write. Absent where the database has its own tools. */
  backup?(path: string): Promise<void>;
  /** Safe twice. */
  close(): Promise<void>;
}
