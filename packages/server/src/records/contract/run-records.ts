/** Runs and their events. */
import type {
  AgentOutcome,
  CreateRun,
  MultitaskStrategy,
  Run,
  RunStatus,
  ThreadStatus,
} from "@deepwright/protocol";
import type { RunPage } from "../tables/conditions.ts";
import type { TaskStatus } from "./background-records.ts";
import type { NewHook, PushConfig } from "./hook-records.ts";
import type { Owner } from "./owner.ts";
import type { ThreadRecord } from "./thread-records.ts";

export type RunUser = Readonly<Record<string, unknown>>;

/** The checked request. */
export type RunRequest = CreateRun & {
  /** Absent: not a task of A2A. null: the client wants no notifications. */
  readonly push?: PushConfig | null;
};

export interface RunRecord extends Run {
  readonly owner: Owner;
  readonly request: RunRequest;
  /** Facts about the caller from `authenticate`, beside the identity. Absent: none, or no caller. */
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

/** A run without its request, which may be large. */
export type RunHead = Omit<RunRecord, "request" | "user">;

/** An event that has no number yet. */
export type NewEvent = Omit<RunEvent, "sequence">;

/** One event of a run, as it goes over the wire. */
export interface RunEvent {
  /** From 1, without gaps: the number in `Last-Event-ID`. */
  readonly sequence: number;
  /** As in SSE: `metadata`, `values`, `updates|tools:…`, `messages`, `error`, `end`. */
  readonly event: string;
  /** JSON text. */
  readonly data: string;
}

/** `bytes` is set for a large event, whose data are left out. */
export interface SkimmedEvent extends RunEvent {
  readonly bytes?: number;
}

export interface NewRun {
  readonly owner: Owner;
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly request: RunRequest;
  readonly user?: RunUser | undefined;
  readonly strategy: MultitaskStrategy;
  /** A second request with the same key of the same owner is answered with the first run; other words under it are refused. */
  readonly idempotencyKey?: string;
  /** Hash of the request. */
  readonly requestHash?: string;
  /** Milliseconds since 1970. Before this time the run does not begin, and does not block other runs. */
  readonly notBefore?: number;
  /** The last events of runs that `interrupt` and `rollback` end before they began. Default none. */
  readonly endOfDisplaced?: readonly NewEvent[];
}

/** The fields that show a repeated request. */
export type RunKey = Pick<NewRun, "owner" | "idempotencyKey" | "requestHash">;

export type StartedRun =
  | {
      readonly kind: "created";
      readonly run: RunRecord;
      /**
       * Runs displaced by the strategies `interrupt` and `rollback`, in their present form. Runs that have begun, at
       * work or given back, have `cancel` set and end first. Runs that had not begun have ended (`interrupted`).
       */
      readonly displaced: readonly RunRecord[];
    }
  /** The key was used before. If that run was deleted meanwhile, it is returned as it last was. */
  | { readonly kind: "known"; readonly run: RunRecord }
  /** The owner has no thread with this id. */
  | { readonly kind: "no-thread" }
  | { readonly kind: "busy" }
  | { readonly kind: "key-reused" };

/** The right to execute a run; storage refuses writes under an older fence. */
export interface RunClaim {
  readonly run: RunRecord;
  readonly fence: number;
  /** Whether its thread does a task of another. */
  readonly isTask?: boolean;
  /** How many attempts, this one included, began at the same step, according to `noteStall`. */
  readonly stalled: number;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly error?: RunRecord["error"];
  /** How the agent ended it. Absent: it failed, waits, or its agent tells none. */
  readonly outcome?: AgentOutcome;
  /** Status of the thread when nothing more is to do; until then it is `busy`. */
  readonly threadStatus: ThreadStatus;
  /** New values for listings; absent values stay. */
  readonly values?: ThreadRecord["values"];
  readonly interrupts?: ThreadRecord["interrupts"];
  /** How a task has gone that ends with this run. Default: as the run. */
  readonly task?: TaskStatus;
  /** The webhook to call. */
  readonly webhook?: NewHook;
}

/** A run that has ended, as far as counts need it. */
export interface EndedRun {
  readonly threadId: string;
  readonly assistantId: string;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  readonly outcome?: AgentOutcome;
}

export interface EndedRunsQuery {
  /** Absent: of all threads. */
  readonly threadId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly limit: number;
}

/** Runs that may begin and that no worker has begun. */
export interface WaitingRuns {
  readonly count: number;
  /** Seconds since the oldest of them was requested; 0 for none. */
  readonly oldestSeconds: number;
}

export interface RunRecords {
  /** One transaction: idempotency, the strategy, the order on the thread. */
  start(run: NewRun): Promise<StartedRun>;
  /** The result of `start` for a used key: `known` or `key-reused`. Undefined: the key is new. */
  keyed(key: RunKey): Promise<StartedRun | undefined>;
  /** Removes a run that has not begun, with its key, as if it had never been requested. False: too late. */
  withdraw(owner: Owner, runId: string): Promise<boolean>;
  get(owner: Owner, runId: string): Promise<RunRecord | undefined>;
  /** A page ends early at 16 MiB, or at `bytes`; so do all listings. */
  list(owner: Owner, threadId: string, query: RunPage): Promise<RunRecord[]>;
  heads(owner: Owner, threadId: string, query: RunPage): Promise<RunHead[]>;
  count(owner: Owner, threadId: string, query?: Pick<RunPage, "status">): Promise<number>;
  /** The thread's first run after this sequence; with `open`, the first that has not ended. */
  next(
    owner: Owner,
    threadId: string,
    after: number,
    query?: { readonly open?: boolean },
  ): Promise<RunRecord | undefined>;
  /** The newest first. */
  ended(owner: Owner, query: EndedRunsQuery): Promise<EndedRun[]>;
  /** Open runs of all threads, also delayed ones, oldest first. */
  open(owner: Owner, query: RunPage): Promise<RunHead[]>;
  delete(owner: Owner, runId: string): Promise<boolean>;
  /**
   * Notes that a client wants the run to end. A run that has not begun ends at once, as `interrupted` with
   * `lastEvents`. The worker of a running run hears of it through `events.watch` and sees `cancel` in the result of
   * `keepClaim`. A run that was given back is ended by the next worker that claims it. Of several actions the first
   * counts. Returns the run in its present form; undefined if no such run is open.
   */
  requestCancel(
    owner: Owner,
    runId: string,
    action: "interrupt" | "rollback",
    lastEvents?: readonly NewEvent[],
  ): Promise<RunRecord | undefined>;
  /**
   * Claims a run of the thread if none is at work: one whose worker lost its claim, or one that was given back, or the
   * oldest that may begin. Counts an attempt. A run with `cancel`, or one that makes no progress, must be finished
   * without continuing it.
   */
  claimNext(threadId: string, worker: string, ttlMs: number): Promise<RunClaim | undefined>;
  /**
   * Renews the claim. Returns the run with new requests of clients; undefined if another worker has it, or it is gone.
   */
  keepClaim(claim: RunClaim, ttlMs: number): Promise<RunRecord | undefined>;
  /**
   * For a run that is begun again: where its thread stood before the first attempt, and where it stands now. Returns how
   * many attempts, this one among them, began there without getting further; undefined: another worker has the run.
   */
  noteStall(
    claim: RunClaim,
    first: string | undefined,
    head: string | undefined,
  ): Promise<number | undefined>;
  /**
   * Ends a run, once. The same transaction stores its last events, the shown state of the thread, the webhook to call
   * and, if a task of another thread ends with it, the mail about that. False: the fence is old.
   */
  finish(claim: RunClaim, end: RunEnd, events: readonly NewEvent[]): Promise<boolean>;
  /** Back in its place in the queue, as after a drain; the attempt does not count. */
  release(claim: RunClaim): Promise<void>;
  /**
   * Threads with runs that may begin and runs whose worker is gone, oldest first: for a start, and from time to time.
   * After the machine slept, the list may name a run of this very process: callers leave those out.
   */
  threadsToWakeUp(limit: number): Promise<string[]>;
  /** Waiting runs of all owners, for metrics. */
  waiting(): Promise<WaitingRuns>;
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
