/** Threads as the server lists them. */
import type { SearchThreads, Thread } from "@deepwright/protocol";
import type { ByteLimit } from "../tables/conditions.ts";
import type { EVERYONE, Owner } from "./owner.ts";

/** A thread without what the saver knows better: its values and interrupts are kept here as of its last run. */
export type ThreadRecord = Omit<Thread, "error"> & {
  readonly owner: Owner;
  readonly error?: unknown;
  /** Tells it from threads that had its id before, or will. Set by storage. */
  readonly incarnation?: number;
};

/** A thread without what may be large. */
export type ThreadHead = Omit<ThreadRecord, "values" | "interrupts" | "config" | "error">;

/** Identifies a thread: ids are used again, incarnations never. */
export type ThreadKey = Pick<ThreadRecord, "owner" | "thread_id" | "incarnation">;

/** A thread that is being removed. */
export type RetiredThread = ThreadKey & { readonly owner: typeof EVERYONE };

export interface ThreadChange {
  /** Added to what is there. */
  readonly metadata?: Record<string, unknown>;
  readonly expiresAt?: number;
  /** Null: the title of the first message. */
  readonly title?: string | null;
  readonly archived?: boolean;
  /** When a thread in the trash is removed for good; null: it is taken out. */
  readonly trashedUntil?: number | null;
}

export interface ThreadRecords {
  /** Ids are one space for all owners, as in the saver: that of another exists, whatever `ifExists` says. */
  put(
    owner: Owner,
    thread: ThreadRecord,
    options: { readonly ifExists: "raise" | "do_nothing"; readonly expiresAt?: number },
  ): Promise<ThreadRecord | "exists">;
  /** One that is larger than `mostBytes` throws VALUE_TOO_LARGE. Default: no limit. */
  get(owner: Owner, threadId: string, mostBytes?: number): Promise<ThreadRecord | undefined>;
  head(owner: Owner, threadId: string): Promise<ThreadHead | undefined>;
  patch(owner: Owner, threadId: string, change: ThreadChange): Promise<ThreadRecord | undefined>;
  /** After a change of state: what listings show. Nothing happens when the thread is gone. */
  note(
    thread: ThreadKey,
    state: Pick<ThreadRecord, "status" | "values" | "interrupts"> & { readonly error?: unknown },
  ): Promise<void>;
  search(owner: Owner, query: SearchThreads, bytes?: ByteLimit): Promise<ThreadRecord[]>;
  count(owner: Owner, query: Omit<SearchThreads, "limit" | "offset">): Promise<number>;
  /** Whether this very thread is still there: not one that was made later under its id. */
  has(thread: ThreadKey): Promise<boolean>;
  /** Whether anyone has a thread of this id, be it one that is being removed. */
  isTaken(threadId: string): Promise<boolean>;
  /**
   * Deletes the thread with its runs, their events, its mail and its crons. Its tasks are cancelled, and a thread that
   * waits for this one gets a message. For threads without a state; others are retired.
   */
  delete(owner: Owner, threadId: string): Promise<boolean>;
  /**
   * As `delete`, but the id stays taken until `drop`, which is called when the state in the saver is gone. From now on
   * nobody finds the thread and nothing begins on it. `busy`: it has a run that has not ended. Undefined: there is no
   * such thread, or another incarnation of it. The former owner may ask again.
   */
  retire(owner: Owner, threadId: string, incarnation?: number): Promise<RetiredThread | "busy" | undefined>;
  drop(thread: RetiredThread): Promise<void>;
  /** Threads whose `expiresAt` has passed, and retired ones nobody has dropped, for removal. */
  expired(limit: number): Promise<readonly ThreadKey[]>;
}
