/** What a server that runs agents gives to their runs for background tasks. */
import { backgroundTasks } from "./background-tasks.ts";
import type { Mailbox } from "./mailbox.ts";
import type { AsyncTransport } from "./transport.ts";

/** Under this key of `configurable`, for whoever runs the agent; a value that came over a wire is no host. */
export const ASYNC_TASK_HOST_CONFIG_KEY = "__deepwright_async_host";

export interface AsyncTaskHost {
  /** Where the ends of tasks go; absent: the mailbox of this process. */
  readonly mailbox?: Mailbox | undefined;
  /** Runs tasks for agents without a `url`; undefined: they run in the background of this process. */
  readonly transport?: ((graphId: string) => AsyncTransport | undefined) | undefined;
}

export function hostOf(configurable: Readonly<Record<string, unknown>> | undefined): AsyncTaskHost {
  const host = configurable?.[ASYNC_TASK_HOST_CONFIG_KEY];
  return typeof host === "object" && host !== null ? host : {};
}

export function mailboxOf(configurable: Readonly<Record<string, unknown>> | undefined): Mailbox {
  return hostOf(configurable).mailbox ?? backgroundTasks().mailbox;
}
