/**
 * What the server remembers beside the threads' own state: assistants, threads, runs and their events, crons.
 *
 * Every method that a client can cause takes the owner and sees nothing of others: a foreign id is an id that is not
 * there. One implementation over SQL serves SQLite (one machine) and Postgres (many): see `sql-records.ts`.
 */
import type {
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

/** Who something belongs to: what `authenticate` said, or `local`. */
export type Owner = string;

/** A thread without what the saver knows better: its values and interrupts are kept here as of its last run. */
export type ThreadRecord = Omit<Thread, "error"> & { readonly owner: Owner; readonly error?: unknown };

export interface RunRecord extends Run {
  readonly owner: Owner;
  /** What was asked for, checked. */
  readonly request: CreateRun;
  /** Grows within the thread: runs that wait are begun in this order. */
  readonly sequence: number;
  /** How often a worker has begun it; a run that ended nothing so often is given up. */
  readonly attempts: number;
  /** Why it failed, for clients: no path, no secret. */
  readonly error?: { readonly error: string; readonly message: string };
  /** A client asked for its end. */
  readonly cancel?: "interrupt" | "rollback";
}

/** One event of a run, as it goes over the wire. */
export interface RunEvent {
  /** From 1, without gaps: what `Last-Event-ID` names. */
  readonly sequence: number;
  /** As in SSE: `metadata`, `values`, `updates|tools:…`, `messages`, `error`, `end`. */
  readonly event: string;
  /** JSON text. */
  readonly data: string;
}

export interface NewRun {
  readonly owner: Owner;
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly request: CreateRun;
  readonly strategy: MultitaskStrategy;
  /** A second request with the same key of the same owner is answered with the first run; other words under it are refused. */
  readonly idempotencyKey?: string;
  /** Of the words of the request. */
  readonly requestHash?: string;
  /** Milliseconds since 1970 before which it does not begin. */
  readonly notBefore?: number;
}

export type StartedRun =
  | {
      readonly kind: "created";
      readonly run: RunRecord /** Runs of the thread that must end first, by the strategy. */;
      readonly displaced: readonly RunRecord[];
    }
  /** The key was used before. */
  | { readonly kind: "known"; readonly run: RunRecord }
  | { readonly kind: "busy" }
  | { readonly kind: "key-reused" };

/** The right to execute a run; storage refuses what comes under an older fence. */
export interface RunClaim {
  readonly run: RunRecord;
  readonly fence: number;
}

export interface RunRecords {
  /** One transaction: idempotency, the strategy, the order on the thread. */
  start(run: NewRun): Promise<StartedRun>;
  get(owner: Owner, runId: string): Promise<RunRecord | undefined>;
  list(
    owner: Owner,
    threadId: string,
    query: { readonly limit: number; readonly offset: number; readonly status?: RunStatus },
  ): Promise<RunRecord[]>;
  delete(owner: Owner, runId: string): Promise<boolean>;
  /** Notes that a client wants its end; the worker that has it hears of it. False: there is none that goes on. */
  requestCancel(owner: Owner, runId: string, action: "interrupt" | "rollback"): Promise<boolean>;
  /** The oldest run of the thread that may begin, if none of the thread is at work; counts an attempt. */
  claimNext(threadId: string, worker: string, ttlMs: number): Promise<RunClaim | undefined>;
  /** False: another worker has it. */
  keepClaim(claim: RunClaim, ttlMs: number): Promise<boolean>;
  /** The end of a run, once; its last events in the same transaction. False: the fence is old. */
  finish(
    claim: RunClaim,
    end: {
      readonly status: RunStatus;
      readonly error?: RunRecord["error"];
      readonly threadStatus: ThreadStatus;
    },
    events: readonly Omit<RunEvent, "sequence">[],
  ): Promise<boolean>;
  /** Back in the queue, as after a drain. */
  release(claim: RunClaim): Promise<void>;
  /** Threads with runs that may begin and runs whose worker is gone: for a start, and from time to time. */
  threadsToWakeUp(limit: number): Promise<string[]>;
}

export interface EventRecords {
  /** Appends under the fence; returns the number of the last one, undefined when the fence is old. */
  append(claim: RunClaim, events: readonly Omit<RunEvent, "sequence">[]): Promise<number | undefined>;
  /** In order, after `after`. */
  read(runId: string, after: number, limit: number): Promise<RunEvent[]>;
  /** Calls when there may be more of this run; in whichever process it was written. Returns how to stop it. */
  watch(runId: string, changed: () => void): () => void;
  /** Events of ended runs older than this go. */
  sweep(beforeMs: number): Promise<void>;
}

export interface AssistantRecords {
  put(
    owner: Owner,
    assistant: Assistant,
    options: { readonly ifExists: "raise" | "do_nothing" | "replace" },
  ): Promise<Assistant | "exists">;
  /** Those of the server itself, one for each agent, belong to everyone. */
  get(owner: Owner, assistantId: string): Promise<Assistant | undefined>;
  search(owner: Owner, query: SearchAssistants): Promise<Assistant[]>;
  count(owner: Owner, query: Pick<SearchAssistants, "graph_id" | "name" | "metadata">): Promise<number>;
  versions(
    owner: Owner,
    assistantId: string,
    query: { readonly limit: number; readonly offset: number },
  ): Promise<Assistant[]>;
  delete(owner: Owner, assistantId: string): Promise<boolean>;
}

export interface ThreadRecords {
  put(
    owner: Owner,
    thread: ThreadRecord,
    options: { readonly ifExists: "raise" | "do_nothing" },
  ): Promise<ThreadRecord | "exists">;
  get(owner: Owner, threadId: string): Promise<ThreadRecord | undefined>;
  patch(
    owner: Owner,
    threadId: string,
    change: { readonly metadata?: Record<string, unknown> },
  ): Promise<ThreadRecord | undefined>;
  /** After a run or a change of state: what listings show. */
  note(
    threadId: string,
    state: Pick<ThreadRecord, "status" | "values" | "interrupts"> & { readonly error?: unknown },
  ): Promise<void>;
  search(owner: Owner, query: SearchThreads): Promise<ThreadRecord[]>;
  count(owner: Owner, query: Pick<SearchThreads, "metadata" | "values" | "status">): Promise<number>;
  delete(owner: Owner, threadId: string): Promise<boolean>;
}

export interface CronRecords {
  put(owner: Owner, cron: Cron): Promise<Cron>;
  get(owner: Owner, cronId: string): Promise<Cron | undefined>;
  search(owner: Owner, query: SearchCrons): Promise<Cron[]>;
  count(owner: Owner, query: Pick<SearchCrons, "assistant_id" | "thread_id">): Promise<number>;
  delete(owner: Owner, cronId: string): Promise<boolean>;
  /** Those that are due, each given to one caller only: their next date is set in the same transaction. */
  takeDue(
    nowMs: number,
    next: (cron: Cron) => string | null,
  ): Promise<readonly { readonly owner: Owner; readonly cron: Cron }[]>;
}

/** Messages for a thread that wait for its next turn: steering, follow-ups, completions of background tasks. */
export interface MailRecords {
  /** An `id` that was delivered or waits already is not delivered again. */
  post(
    threadId: string,
    mail: {
      readonly id: string;
      readonly kind: "steer" | "follow-up" | "completion";
      readonly message: unknown;
    },
  ): Promise<boolean>;
  /** In the order they came; they stay until `settle`. */
  waiting(
    threadId: string,
    kinds: readonly string[],
  ): Promise<readonly { readonly id: string; readonly kind: string; readonly message: unknown }[]>;
  settle(threadId: string, ids: readonly string[]): Promise<void>;
}

export interface ServerRecords {
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly crons: CronRecords;
  readonly mail: MailRecords;
  close(): Promise<void>;
}
