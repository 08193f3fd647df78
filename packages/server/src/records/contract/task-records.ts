/** Background tasks that threads of this server do for other threads. */
import type { TaskRecord } from "./background-records.ts";
import type { Owner } from "./owner.ts";
import type { NewRun, RunClaim, RunRecord, StartedRun } from "./run-records.ts";
import type { ThreadRecord } from "./thread-records.ts";

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
   * Stores the thread, the task and the run in one transaction. `busy`: the parent's run was ended, or lost its thread;
   * `no-thread`: it has no such task.
   */
  begin(task: NewTask): Promise<StartedRun>;
  get(owner: Owner, threadId: string): Promise<TaskRecord | undefined>;
  /** Ends the task and all tasks below it without messages. Returns their runs, as `requestCancel` does. */
  cancel(owner: Owner, threadId: string): Promise<RunRecord[]>;
}
