/** Services for background tasks that a server gives to the runs of its agents. */
import type { AsyncTask } from "./async-task.ts";
import { backgroundTasks } from "./background-tasks.ts";
import type { Mailbox } from "./mailbox.ts";
import type { AsyncTransport } from "./transport.ts";

/** Under this key of `configurable`, for whoever runs the agent; a value that came over a wire is no host. */
export const ASYNC_TASK_HOST_CONFIG_KEY = "__deepwright_async_host";

export interface AsyncTaskHost {
  /** Where the ends of tasks go; absent: the mailbox of this process. */
  readonly mailbox?: Mailbox | undefined;
  /**
   * Runs tasks for agents without a `url`; undefined: they run in the background of this process. `agentName` is what
   * the agent of the run calls them.
   */
  readonly transport?: ((graphId: string, agentName: string) => AsyncTransport | undefined) | undefined;
  /**
   * Sees to it that the thread of the run is told of the end of a task that another server does, whatever becomes of
   * this process; for a task it follows already, nothing changes. False: it cannot, and the task is watched from here;
   * also when this is absent. Rejects when the run that gives the task was ended: nobody would hear of it.
   */
  readonly follow?: ((task: AsyncTask) => Promise<boolean>) | undefined;
  /** The end of a followed task is no news any more. */
  readonly forget?: ((taskId: string) => Promise<void>) | undefined;
  /** Whether the host itself tells whoever is to hear of the end of this run (`tellAsyncTaskEnd`), however it ends. */
  readonly tellsEnd?: (() => Promise<boolean>) | undefined;
}

export function hostOf(configurable: Readonly<Record<string, unknown>> | undefined): AsyncTaskHost {
  const host = configurable?.[ASYNC_TASK_HOST_CONFIG_KEY];
  return typeof host === "object" && host !== null ? host : {};
}

export function mailboxOf(configurable: Readonly<Record<string, unknown>> | undefined): Mailbox {
  return hostOf(configurable).mailbox ?? backgroundTasks().mailbox;
}
