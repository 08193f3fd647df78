/** How workers hear that a thread has something to do. What there is to do, and in which order, is in the records. */

export interface Queue {
  /**
   * Some worker is to look at the thread, now or at `notBefore` (milliseconds since 1970). Wake-ups of one thread
   * that nobody has heard yet become one. A lost one is made up for by the workers' scan of the records.
   */
  wake(threadId: string, notBefore?: number): Promise<void>;
  /** Hands wake-ups to this process from now on. A queue that was not started only sends. */
  start(handler: WakeHandler): Promise<void>;
  /** Hands out no more, and gives back what it has; wake-ups can still be sent. Safe twice. */
  stop(): Promise<void>;
  /** Also sends no more. Safe twice. */
  close(): Promise<void>;
}

/**
 * Begins what the thread has to do and resolves without waiting for its end. `full`: this process has no room; the
 * queue may offer the wake-up elsewhere.
 */
export type WakeHandler = (threadId: string) => Promise<"done" | "full">;
