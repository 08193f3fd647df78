/** Services for background tasks that a server gives to the runs of its agents. */
import type { AsyncTask } from "./async-task.ts";
import { backgroundTasks } from "./background-tasks.ts";
import type { Mailbox } from "./mailbox.ts";
import type { AsyncTransport } from "./transport.ts";

/**
 * The key of `configurable` for the host, set by the program that runs the agent. A value that came over a wire is not
 * a host.
 */
export const ASYNC_TASK_HOST_CONFIG_KEY = "__deepwright_async_host";

export interface AsyncTaskHost {
  /** Where the ends of tasks go; absent: the mailbox of this process. */
  readonly mailbox?: Mailbox | undefined;
  /**
   * Runs tasks for agents without a `url`; undefined: they run in the background of this process. `agentName` is the
   * subagent's name in the calling agent.
   */
  readonly transport?: ((graphId: string, agentName: string) => AsyncTransport | undefined) | undefined;
  /**
   * Makes sure that the thread of the run hears of the end of a task on another server, even if this process dies.
   * Calling it again for the same task changes nothing. False or absent: the task is watched from this process. Rejects
   * if the run that gives the task has ended, because nobody would hear of the task.
   */
  readonly follow?: ((task: AsyncTask) => Promise<boolean>) | undefined;
  /** The end of a followed task is no news any more. */
  readonly forget?: ((taskId: string) => Promise<void>) | undefined;
  /** True if the host itself reports every end of this run (`tellAsyncTaskEnd`). */
  readonly tellsEnd?: (() => Promise<boolean>) | undefined;
}

export function hostOf(configurable: Readonly<Record<string, unknown>> | undefined): AsyncTaskHost {
  const host = configurable?.[ASYNC_TASK_HOST_CONFIG_KEY];
  return typeof host === "object" && host !== null ? host : {};
}

export function mailboxOf(configurable: Readonly<Record<string, unknown>> | undefined): Mailbox {
  return hostOf(configurable).mailbox ?? backgroundTasks().mailbox;
}
