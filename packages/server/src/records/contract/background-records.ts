/** Background work of threads: tasks on other servers, and all of it together. */
import type { RunStatus } from "@deepwright/protocol";

/** The form in which a supervisor gets it. */
export type TaskStatus = Exclude<RunStatus, "pending" | "running"> | "cancelled";

/** A thread that does a task of another thread of its owner. */
export interface TaskRecord {
  readonly threadId: string;
  readonly parentThreadId: string;
  /** The subagent's name in the agent of the parent. */
  readonly agentName: string;
  /** The run the task was last given to. */
  readonly runId: string;
  /** `waits`: for a person, and the parent knows. The parent gets the end as well. */
  readonly state: "open" | "waits" | "over";
  /** Null while it is open. */
  readonly status: TaskStatus | null;
}

/** A task that another server does for a thread of this one. */
export interface RemoteTask {
  readonly owner: string;
  /** The thread it is done for. */
  readonly parentThreadId: string;
  /** Its thread there; together with the parent it names the task. */
  readonly taskId: string;
  /** The run there that it was last given to. */
  readonly runId: string;
  /** The subagent, as the agent of the parent calls it, and that agent: they know the address and the keys. */
  readonly agentName: string;
  readonly graphId: string;
  /** `waits` for a person, and the parent knows it. `cancel`: it is to be ended there, without a message to anyone. */
  readonly state: "open" | "waits" | "cancel" | "over";
  /** How often it was taken since it was given; the last taker has it. */
  readonly looks: number;
  /** In a row. */
  readonly failures: number;
}

export interface NewRemoteTask
  extends Pick<RemoteTask, "owner" | "taskId" | "runId" | "agentName" | "graphId"> {
  /** The run that gives it, at work on the parent. */
  readonly giver: {
    readonly run: { readonly run_id: string; readonly thread_id: string };
    readonly fence: number;
  };
  /** Milliseconds until the next look. */
  readonly lookInMs: number;
}

/** The end of everything on a thread, that another is to hear of. */
export interface Completion {
  readonly owner: string;
  readonly threadId: string;
  /** The run that was started with a thread to notify, and its assistant, which knows the address of that thread. */
  readonly runId: string;
  readonly assistantId: string;
  /** The thread to tell. */
  readonly target: string;
  readonly status: TaskStatus;
  /** How many ends there were: a task that waited for a person is reported again. */
  readonly ends: number;
  /** Attempts, this one among them. */
  readonly looks: number;
}

export interface BackgroundRecords {
  /**
   * Stores the task until its end was reported. A known run stays unchanged. False: the run that gives the task was
   * ended or lost its thread.
   */
  follow(task: NewRemoteTask): Promise<boolean>;
  /** A task of the thread reported its end: its open tasks are due now. */
  hurry(owner: string, parentThreadId: string): Promise<void>;
  /** Its end is no news any more. */
  forget(owner: string, parentThreadId: string, taskId: string): Promise<void>;
  /** Tasks that are due for a look. Each belongs to this caller for so long, then to anyone. */
  take(limit: number, leaseMs: number): Promise<readonly RemoteTask[]>;
  /** The task continues, or could not be reached (`failed`). Does nothing if another worker has taken it since. */
  again(task: RemoteTask, next: { readonly inMs: number; readonly failed: boolean }): Promise<void>;
  /** Stores the end (or the wait) and the message about it in one transaction. False: it was reported or restarted before. */
  end(task: RemoteTask, status: TaskStatus): Promise<boolean>;
  /** A task that was to be cancelled has been, or cannot be. */
  stopped(task: RemoteTask): Promise<void>;
  /** Ends to report. Each belongs to this caller for so long, then to anyone. */
  takeCompletions(limit: number, leaseMs: number): Promise<readonly Completion[]>;
  /** `againInMs` null: it was reported, or is given up. */
  noteAttempt(completion: Completion, againInMs: number | null): Promise<void>;
  /** Whether the end of the thread is, or was, reported to another thread. */
  hasCompletion(owner: string, threadId: string): Promise<boolean>;
  /** Tasks of the thread that are open, here or elsewhere, and mail that a run will be begun for. */
  openOn(owner: string, threadId: string): Promise<number>;
  /**
   * Ends everything on the thread: runs, tasks below them, mail that would begin a run. Tasks elsewhere are to be
   * cancelled by the process that takes them. Returns the runs, as `requestCancel` does.
   */
  stop(owner: string, threadId: string): Promise<readonly { readonly run_id: string }[]>;
}
