/** Wake-ups: a worker learns that a thread has work. The work itself and its order are in the records. */

export interface Queue {
  /**
   * Asks any worker to look at the thread, now or at `notBefore` (milliseconds since 1970). Wake-ups of one thread that
   * no worker got yet become one. Wake-ups may get lost: workers also scan the records from time to time.
   */
  wake(threadId: string, notBefore?: number): Promise<void>;
  /** From now on `handler` gets wake-ups. A queue that was not started only sends them. */
  start(handler: WakeHandler): Promise<void>;
  /** Stops receiving and returns unhandled wake-ups to the queue. Sending still works. Safe to call twice. */
  stop(): Promise<void>;
  /** Stops sending too. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Starts the work of the thread and resolves without waiting for its end. `full`: this process has no room, so the
 * queue may offer the wake-up to another one.
 */
export type WakeHandler = (threadId: string) => Promise<"done" | "full">;
