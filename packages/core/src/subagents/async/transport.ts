/** The contract between an agent that gives background tasks and the process or server that runs them. */
import type { AsyncTaskStatus } from "./async-task.ts";

/** Facts about the run of a tool call that a transport gets. */
export interface AsyncCall {
  /** The thread of the agent; undefined when it has none. */
  readonly ownerThreadId?: string | undefined;
  /** Id of the model's call; the same when the call is repeated because the process ended before it was stored. */
  readonly callId?: string | undefined;
  /** Ends the call, never the task. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Values that tasks of this process inherit: the run's context and store, and the caller's own configurable keys.
   */
  readonly context?: unknown;
  readonly store?: unknown;
  readonly configurable?: Readonly<Record<string, unknown>> | undefined;
}

/** A run on a thread of its own. Both ids are made of letters, digits, `_` and `-`. */
export interface AsyncRun {
  readonly threadId: string;
  readonly runId: string;
  readonly status: AsyncTaskStatus;
}

export interface AsyncReport {
  readonly status: AsyncTaskStatus;
  /** The last words or the JSON of the structured response; only with `success`. */
  readonly result?: string | undefined;
  /** Why it did not succeed, or what decision it waits for, with its last words; text for the model. */
  readonly reason?: string | undefined;
}

/**
 * Failures are thrown as a DeepwrightError with the code `ASYNC_TASK_FAILED`; the model reads its message. No method
 * waits for the work itself, except `join`.
 */
export interface AsyncTransport {
  /** Resolves when the task is sure to run, even if the caller dies. Where possible, the same call again is the same task. */
  start(description: string, call: AsyncCall): Promise<AsyncRun>;
  check(run: AsyncRun, call: AsyncCall): Promise<AsyncReport>;
  /** The status alone, for repeated looks; absent: `check` costs no more. */
  look?(run: AsyncRun, signal: AbortSignal | undefined): Promise<AsyncReport>;
  /** Milliseconds between looks that wait for an end: the first, and the most. */
  readonly pauses?: readonly [first: number, most: number];
  /** Stops the run if it still works, and goes on from where the thread is, in another run. */
  update(run: AsyncRun, message: string, call: AsyncCall): Promise<AsyncRun>;
  /** Resolves when the run, with all it started, was asked to stop. */
  cancel(run: AsyncRun, call: AsyncCall): Promise<void>;
  /**
   * Waits until the run and everything that it started have ended. Undefined: another run has replaced it, or it was
   * cancelled on purpose. Absent: the runner of the task reports its end to the owner.
   */
  join?(run: AsyncRun, signal: AbortSignal): Promise<AsyncReport | undefined>;
}
