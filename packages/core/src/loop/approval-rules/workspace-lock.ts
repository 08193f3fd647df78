/**
 * Keeps the files of a thread unchanged while a command runs that was approved with its files.
 *
 * Calls that change files or run other commands work in parallel. A call that was approved with the content of files
 * runs alone. Each thread has one lock, which covers the agent and the subagents inside its runs.
 */

type Release = () => void;

interface Waiting {
  readonly isAlone: boolean;
  readonly start: () => void;
}

class WorkspaceLock {
  #holders = 0;
  #isAlone = false;
  readonly #queue: Waiting[] = [];

  get isFree(): boolean {
    return this.#holders === 0 && this.#queue.length === 0;
  }

  /** Requests are served in order, so no request waits for ever. */
  async take(isAlone: boolean, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        isAlone,
        start: () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
      };
      const stop = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal?.reason);
        this.#next();
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  leave(): void {
    this.#holders -= 1;
    this.#isAlone = false;
    this.#next();
  }

  #next(): void {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      if (this.#isAlone || (first.isAlone && this.#holders > 0)) return;
      this.#queue.shift();
      this.#holders += 1;
      this.#isAlone = first.isAlone;
      first.start();
    }
  }
}

const locks = new Map<string, WorkspaceLock>();

/** Without a thread nothing can be approved, and the lock is free at once. Call the result once, at the end. */
export async function lockWorkspace(
  thread: string | undefined,
  isAlone: boolean,
  signal: AbortSignal | undefined,
): Promise<Release> {
  if (thread === undefined) return () => {};
  const lock = locks.get(thread) ?? new WorkspaceLock();
  locks.set(thread, lock);
  const forget = (): void => {
    if (lock.isFree && locks.get(thread) === lock) locks.delete(thread);
  };
  try {
    await lock.take(isAlone, signal);
  } catch (error) {
    forget();
    throw error;
  }
  return () => {
    lock.leave();
    forget();
  };
}
