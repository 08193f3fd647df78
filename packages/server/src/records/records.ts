/**
 * Records of the server beside the threads' own state: assistants, threads, runs and their events, crons.
 *
 * Every method that a client can cause takes the owner and sees nothing of others: a foreign id is an id that is not
 * there. Methods without an owner are for the server's own work, after it has looked an id up with its owner. One
 * implementation over SQL serves SQLite (one machine) and Postgres (many): see `open-records.ts`.
 *
 * Dates that clients see come from the clock of the caller and order nothing: runs of a thread follow each other by
 * `sequence`. `notBefore` is measured by the clock of the database, which is one for all workers, and claims by a
 * monotonic clock.
 */

import type {
  AgentOutcome,
  Assistant,
  CreateRun,
  Cron,
  MultitaskStrategy,
  Run,
  RunStatus,
  SearchAssistants,
  SearchCrons,
  SearchThreads,
  Thread,
  ThreadStatus,
} from "@deepwright/protocol";
import type { BackgroundRecords, TaskRecord, TaskStatus } from "./background-records.ts";
import type { DueHook, HookRecord, HookRecords, PassedOver } from "./hook-records.ts";
import type { ByteLimit, Page, RunPage } from "./tables/conditions.ts";

export type { BackgroundRecords, DueHook, HookRecord, HookRecords, PassedOver, TaskRecord, TaskStatus };

/** Owner of a record: the identity from `authenticate`, or `local`. */
export type Owner = string;

/** The owner of the server's own assistants, which everyone sees and nobody else may change. No client has this name. */
export const EVERYONE = "" satisfies Owner;

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
export type ThreadPlace = Pick<ThreadRecord, "owner" | "thread_id" | "incarnation">;

/** A thread that is being removed. */
export type RetiredThread = ThreadPlace & { readonly owner: typeof EVERYONE };

export type RunUser = Readonly<Record<string, unknown>>;

export interface RunRecord extends Run {
  readonly owner: Owner;
  /** The checked request. */
  readonly request: CreateRun;
  /** Facts from `authenticate` about the caller, beside the identity. Absent: none, or nobody asked. */
  readonly user?: RunUser;
  /** Grows within the thread: runs that wait are begun in this order. */
  readonly sequence: number;
  /** How often a worker has begun it; a run that ended nothing so often is given up. */
  readonly attempts: number;
  /** Why it failed, for clients: no path, no secret. */
  readonly error?: { readonly error: string; readonly message: string };
  /** A client asked for its end. */
  readonly cancel?: "interrupt" | "rollback";
}

/** A run without what was asked for, which may be large. */
export type RunHead = Omit<RunRecord, "request" | "user">;

/** An event that has no number yet. */
export type NewEvent = Omit<RunEvent, "sequence">;

/** One event of a run, as it goes over the wire. */
export interface RunEvent {
  /** From 1, without gaps: what `Last-Event-ID` names. */
  readonly sequence: number;
  /** As in SSE: `metadata`, `values`, `updates|tools:…`, `messages`, `error`, `end`. */
  readonly event: string;
  /** JSON text. */
  readonly data: string;
}

/** `bytes` is there for a large one, whose data are not. */
export interface SkimmedEvent extends RunEvent {
  readonly bytes?: number;
}

export interface NewRun {
  readonly owner: Owner;
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly request: CreateRun;
  readonly user?: RunUser | undefined;
  readonly strategy: MultitaskStrategy;
  /** A second request with the same key of the same owner is answered with the first run; other words under it are refused. */
  readonly idempotencyKey?: string;
  /** Hash of the request. */
  readonly requestHash?: string;
  /** Milliseconds since 1970 before which it does not begin, and is in nobody's way. */
  readonly notBefore?: number;
  /** The last events of runs that `interrupt` and `rollback` end before they began. Default none. */
  readonly endOfDisplaced?: readonly NewEvent[];
}

/** Key that tells whether a run was asked for before. */
export type RunKey = Pick<NewRun, "owner" | "idempotencyKey" | "requestHash">;

export type StartedRun =
  | {
      readonly kind: "created";
      readonly run: RunRecord;
      /**
       * By the strategies `interrupt` and `rollback`, as they are now: those that were begun, be they at work or given
       * back, have `cancel` set and end first; those that had not begun have ended (`interrupted`).
       */
      readonly displaced: readonly RunRecord[];
    }
  /** The key was used before. If that run was deleted meanwhile, it is returned as it last was. */
  | { readonly kind: "known"; readonly run: RunRecord }
  /** The owner has no such thread. */
  | { readonly kind: "no-thread" }
  | { readonly kind: "busy" }
  | { readonly kind: "key-reused" };

/** The right to execute a run; storage refuses what comes under an older fence. */
export interface RunClaim {
  readonly run: RunRecord;
  readonly fence: number;
  /** Whether its thread does a task of another. */
  readonly isTask?: boolean;
  /** How many attempts, this one among them, began at the same step, as far as `noteStall` was told. */
  readonly stalled: number;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly error?: RunRecord["error"];
  /** How the agent ended it. Absent: it failed, waits, or its agent tells none. */
  readonly outcome?: AgentOutcome;
  /** Status of the thread when nothing more is to do; until then it is `busy`. */
  readonly threadStatus: ThreadStatus;
  /** Values that listings show of the thread from now on; an absent value stays as it was. */
  readonly values?: ThreadRecord["values"];
  readonly interrupts?: ThreadRecord["interrupts"];
  /** How a task has gone that ends with this run. Default: as the run. */
  readonly task?: TaskStatus;
  /** Address to notify, and the body: JSON text. */
  readonly webhook?: { readonly url: string; readonly body: string };
}

export interface RunRecords {
  /** One transaction: idempotency, the strategy, the order on the thread. */
  start(run: NewRun): Promise<StartedRun>;
  /** Answer that `start` would give for the key: `known` or `key-reused`. Undefined: it is new. */
  keyed(key: RunKey): Promise<StartedRun | undefined>;
  /** Takes the start of a run back that nobody has begun, with its key: it was never asked for. False: too late. */
  withdraw(owner: Owner, runId: string): Promise<boolean>;
  get(owner: Owner, runId: string): Promise<RunRecord | undefined>;
  /** A page ends early when it has 16 MiB, or what `bytes` says; so do all listings. */
  list(owner: Owner, threadId: string, query: RunPage): Promise<RunRecord[]>;
  heads(owner: Owner, threadId: string, query: RunPage): Promise<RunHead[]>;
  count(owner: Owner, threadId: string, query?: Pick<RunPage, "status">): Promise<number>;
  /** The first of the thread behind this sequence; with `open`, of those that have not ended. */
  next(
    owner: Owner,
    threadId: string,
    after: number,
    query?: { readonly open?: boolean },
  ): Promise<RunRecord | undefined>;
  /** Runs of all threads that have not ended, also those that may not begin yet, oldest first. */
  open(owner: Owner, query: RunPage): Promise<RunHead[]>;
  delete(owner: Owner, runId: string): Promise<boolean>;
  /**
   * Notes that a client wants its end. One that has not begun ends at once, as `interrupted` with `lastEvents`; of one
   * at work, the worker hears by `events.watch` and sees `cancel` in what `keepClaim` returns; one that was given back is
   * ended by the next to claim it. Of several actions the first counts. Returns the run as it is now; undefined: there
   * is none that goes on.
   */
  requestCancel(
    owner: Owner,
    runId: string,
    action: "interrupt" | "rollback",
    lastEvents?: readonly NewEvent[],
  ): Promise<RunRecord | undefined>;
  /**
   * The one whose worker did not keep its claim, or one that was given back, or the oldest run of the thread that may
   * begin, if none of the thread is at work; counts an attempt. A run that has `cancel`, or does not get further, is the
   * worker's to finish without going on.
   */
  claimNext(threadId: string, worker: string, ttlMs: number): Promise<RunClaim | undefined>;
  /** The run as it is now, with what clients asked of it meanwhile. Undefined: another worker has it, or nobody. */
  keepClaim(claim: RunClaim, ttlMs: number): Promise<RunRecord | undefined>;
  /**
   * Records a run that is begun again: where its thread stood before the first attempt, and where it stands now.
   * Returns how many attempts, including this one, began there without progress; undefined: another worker has the
   * run.
   */
  noteStall(
    claim: RunClaim,
    first: string | undefined,
    head: string | undefined,
  ): Promise<number | undefined>;
  /**
   * The end of a run, once. In the same transaction: its last events, what the thread shows and, if a task of another
   * thread ends with it, the letter that says so; and whom to tell outside. False: the fence is old.
   */
  finish(claim: RunClaim, end: RunEnd, events: readonly NewEvent[]): Promise<boolean>;
  /** Back in its place in the queue, as after a drain; the attempt does not count. */
  release(claim: RunClaim): Promise<void>;
  /**
   * Threads with runs that may begin and runs whose worker is gone, oldest first: for a start, and from time to time.
   * Of a run this very process is at work on, it may be told after the machine slept: whoever asks leaves those out.
   */
  threadsToWakeUp(limit: number): Promise<string[]>;
}

export interface EventRecords {
  /** Appends under the fence; returns the number of the last one, undefined when the fence is old. */
  append(claim: RunClaim, events: readonly NewEvent[]): Promise<number | undefined>;
  /** In order, after `after`; fewer than `limit` also when they are large (4 MiB), none only at the end. */
  read(runId: string, after: number, limit: number): Promise<RunEvent[]>;
  /** As `read`, but of an event beyond 2 MiB only its size: `piece` reads it. */
  skim(runId: string, after: number, limit: number): Promise<SkimmedEvent[]>;
  /** So many characters of the data of an event, from one on; less only at the end, none behind it. */
  piece(runId: string, sequence: number, from: number, count: number): Promise<string>;
  /**
   * Calls when there may be more of this run, also its end and a request to cancel it, in whichever process that came
   * about; sometimes for nothing. Watch first, then read. Returns how to stop it.
   */
  watch(runId: string, changed: () => void): () => void;
  /** Events of runs that ended before this go, and idempotency keys after a day. */
  sweep(beforeMs: number): Promise<void>;
}

export interface AssistantRecords {
  /**
   * `replace` keeps what was there as an earlier version and numbers the new one itself; words that are the same make
   * none. An id of `EVERYONE` exists for all.
   */
  put(
    owner: Owner,
    assistant: Assistant,
    options: { readonly ifExists: "raise" | "do_nothing" | "replace" },
  ): Promise<Assistant | "exists">;
  /** Makes an earlier version the current one; the next change gets a new number all the same. */
  setLatest(owner: Owner, assistantId: string, version: number): Promise<Assistant | undefined>;
  /** Assistants of the server itself, one for each agent, belong to everyone. */
  get(owner: Owner, assistantId: string): Promise<Assistant | undefined>;
  search(owner: Owner, query: SearchAssistants, bytes?: ByteLimit): Promise<Assistant[]>;
  count(owner: Owner, query: Pick<SearchAssistants, "graph_id" | "name" | "metadata">): Promise<number>;
  versions(owner: Owner, assistantId: string, query: Page): Promise<Assistant[]>;
  countVersions(owner: Owner, assistantId: string): Promise<number>;
  delete(owner: Owner, assistantId: string): Promise<boolean>;
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
  /** Keys of `metadata` are added to what is there. */
  patch(
    owner: Owner,
    threadId: string,
    change: { readonly metadata?: Record<string, unknown>; readonly expiresAt?: number },
  ): Promise<ThreadRecord | undefined>;
  /** After a change of state: what listings show. Nothing happens when the thread is gone. */
  note(
    thread: ThreadPlace,
    state: Pick<ThreadRecord, "status" | "values" | "interrupts"> & { readonly error?: unknown },
  ): Promise<void>;
  search(owner: Owner, query: SearchThreads, bytes?: ByteLimit): Promise<ThreadRecord[]>;
  count(owner: Owner, query: Omit<SearchThreads, "limit" | "offset">): Promise<number>;
  /** Whether this very thread is still there: not one that was made later under its id. */
  has(thread: ThreadPlace): Promise<boolean>;
  /** Whether anyone has a thread of this id, be it one that is being removed. */
  isTaken(threadId: string): Promise<boolean>;
  /**
   * With its runs, their events, its mail and the crons on it; its tasks are cancelled, and the thread it does one for
   * is told. For threads that have no state: others are retired.
   */
  delete(owner: Owner, threadId: string): Promise<boolean>;
  /**
   * As `delete`, but the id stays taken until `drop`, which is called when the state in the saver is gone. From now on
   * nobody finds the thread and nothing begins on it. `busy`: it has a run that has not ended. Undefined: there is no
   * such thread, or another incarnation of it. The former owner may ask again.
   */
  retire(owner: Owner, threadId: string, incarnation?: number): Promise<RetiredThread | "busy" | undefined>;
  drop(thread: RetiredThread): Promise<void>;
  /** Threads whose `expiresAt` has passed, and retired ones nobody has dropped, for whoever removes them. */
  expired(limit: number): Promise<readonly ThreadPlace[]>;
}

export interface DueCron {
  readonly owner: Owner;
  readonly cron: Cron;
}

export interface PlacedCron extends DueCron {
  readonly position: number;
}

export interface CronRecords {
  /** Adds it or puts it in place of what the owner has under its id. */
  put(owner: Owner, cron: Cron): Promise<Cron>;
  get(owner: Owner, cronId: string): Promise<Cron | undefined>;
  search(owner: Owner, query: SearchCrons, bytes?: ByteLimit): Promise<Cron[]>;
  count(owner: Owner, query: Pick<SearchCrons, "assistant_id" | "thread_id" | "metadata">): Promise<number>;
  delete(owner: Owner, cronId: string): Promise<boolean>;
  /**
   * Due crons, each given to one caller only: their next date is set in the same transaction (null: never again).
   * They are returned as they were, so `next_run_date` is the date they are due for.
   *
   * A caller that dies before it started the run has lost that date. To lose none, read `due`, start the run under an
   * idempotency key made of cron and date, and then call `advance`.
   */
  takeDue(nowMs: number, next: (cron: Cron) => string | null): Promise<readonly DueCron[]>;
  /** The oldest dates first. */
  due(nowMs: number, limit?: number): Promise<readonly DueCron[]>;
  /** Records with a date after `nowMs`, in the order they were made, from behind the position `after`. */
  ahead(nowMs: number, after: number, limit: number): Promise<readonly PlacedCron[]>;
  /** Sets the next date of those that still have the one they were read with; returns these. */
  advance(
    steps: readonly { readonly due: DueCron; readonly next: string | null }[],
  ): Promise<readonly DueCron[]>;
}

/** Messages for a thread that wait for its next turn: steering, follow-ups, ends of background work. */
export interface MailRecords {
  /**
   * An `id` that was delivered or waits already is not delivered again: false, as for a thread the owner does not have.
   */
  post(
    owner: Owner,
    threadId: string,
    mail: {
      readonly id: string;
      readonly kind: MailKind;
      readonly message: unknown;
    },
  ): Promise<boolean>;
  /** In the order they came; they stay until `settle`. */
  waiting(threadId: string, kinds: readonly string[]): Promise<readonly WaitingMail[]>;
  settle(threadId: string, ids: readonly string[]): Promise<void>;
  /** Threads at rest with mail for which no run was begun under `mailKey`: whoever was to begin one is gone. */
  unattended(limit: number): Promise<readonly { readonly owner: Owner; readonly threadId: string }[]>;
}

export type MailKind = "steer" | "follow-up" | "completion" | "task-end";

export interface WaitingMail {
  readonly id: string;
  readonly kind: string;
  readonly message: unknown;
  /** The `sequence` of the last run its thread had when it came; 0 for none. */
  readonly afterRun: number;
}

/** The idempotency key of a run that is begun for mail; `newest` is the last letter that waits. */
export const mailKey = (threadId: string, newest: string): string =>
  `mail:${threadId.length}:${threadId}:${newest}`;

export interface NewTask {
  /** The run that gives it, at work on the parent. */
  readonly giver: RunClaim;
  readonly agentName: string;
  /** The thread to be made for it; absent: the task is known, and goes on with another run. */
  readonly thread?: ThreadRecord;
  readonly run: NewRun;
}

export interface TaskRecords {
  /**
   * One transaction: the thread, that it is a task, the run. `busy`: the run that gives it was ended, or lost its
   * thread; `no-thread`: it has no such task.
   */
  begin(task: NewTask): Promise<StartedRun>;
  get(owner: Owner, threadId: string): Promise<TaskRecord | undefined>;
  /** The task is over, with all below it, and nobody is told. Returns their runs, as `requestCancel` does. */
  cancel(owner: Owner, threadId: string): Promise<RunRecord[]>;
}

export interface ServerRecords {
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly crons: CronRecords;
  readonly mail: MailRecords;
  readonly tasks: TaskRecords;
  readonly hooks: HookRecords;
  readonly background: BackgroundRecords;
  close(): Promise<void>;
}
