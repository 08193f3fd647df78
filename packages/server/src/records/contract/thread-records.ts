/** Threads as the server lists them. */
import type { SearchThreads, Thread } from "@deepwright/protocol";
import type { ByteLimit } from "../tables/conditions.ts";
import type { EVERYONE, Owner } from "./owner.ts";

/** A thread in the records. Its values and interrupts are those after its last run; the saver has the present ones. */
export type ThreadRecord = Omit<Thread, "error"> & {
  readonly owner: Owner;
  readonly error?: unknown;
  /** Tells it from threads that had its id before, or will. Set by storage. */
  readonly incarnation?: number;
};

/** A thread without its large fields. */
export type ThreadHead = Omit<ThreadRecord, "values" | "interrupts" | "config" | "error">;

/** Identifies a thread: ids are used again, incarnations never. */
export type ThreadKey = Pick<ThreadRecord, "owner" | "thread_id" | "incarnation">;

/** A thread that is being removed. */
export type RetiredThread = ThreadKey & { readonly owner: typeof EVERYONE };

export interface ThreadChange {
  /** Merged into the stored metadata. */
  readonly metadata?: Record<string, unknown>;
  readonly expiresAt?: number;
  /** Null: the title of the first message. */
  readonly title?: string | null;
  readonly archived?: boolean;
  /** When a thread in the trash is removed for good; null: it is taken out. */
  readonly trashedUntil?: number | null;
}

export interface ThreadRecords {
  /**
   * Ids are one space for all owners, as in the saver: a thread of another owner counts as existing, with any
   * `ifExists`.
   */
  put(
    owner: Owner,
    thread: ThreadRecord,
    options: { readonly ifExists: "raise" | "do_nothing"; readonly expiresAt?: number },
  ): Promise<ThreadRecord | "exists">;
  /** Throws VALUE_TOO_LARGE for a thread larger than `mostBytes`. Default: no limit. */
  get(owner: Owner, threadId: string, mostBytes?: number): Promise<ThreadRecord | undefined>;
  head(owner: Owner, threadId: string): Promise<ThreadHead | undefined>;
  patch(owner: Owner, threadId: string, change: ThreadChange): Promise<ThreadRecord | undefined>;
  /** Updates the state in listings after a change. Does nothing if the thread is gone. */
  note(
    thread: ThreadKey,
    state: Pick<ThreadRecord, "status" | "values" | "interrupts"> & { readonly error?: unknown },
  ): Promise<void>;
  search(owner: Owner, query: SearchThreads, bytes?: ByteLimit): Promise<ThreadRecord[]>;
  count(owner: Owner, query: Omit<SearchThreads, "limit" | "offset">): Promise<number>;
  /** Whether this very thread still exists. A later thread under its id does not count. */
  has(thread: ThreadKey): Promise<boolean>;
  /** Whether any owner has a thread with this id, even one that is being removed. */
  isTaken(threadId: string): Promise<boolean>;
  /**
   * Deletes the thread with its runs, their events, its mail and its crons. Its tasks are cancelled, and a thread that
   * waits for this one gets a message. For threads without a state; others are retired.
   */
  delete(owner: Owner, threadId: string): Promise<boolean>;
  /**
   * Like `delete`, but the id stays taken until `drop`, which is called after the state in the saver is gone. From now
   * on the thread cannot be found or used. `busy`: it has a run that has not ended. Undefined: there is no such thread,
   * or another incarnation of it. The former owner may ask again.
   */
  retire(owner: Owner, threadId: string, incarnation?: number): Promise<RetiredThread | "busy" | undefined>;
  drop(thread: RetiredThread): Promise<void>;
  /** Threads to remove: their `expiresAt` has passed, or they were retired and not dropped. */
  expired(limit: number): Promise<readonly ThreadKey[]>;
}
